// A scratch folder with a home, a project and acl, in which an agent is run once.
import { spawn, spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { mock } from "./mock.mjs"

const { ACL, E2E_CACHE, E2E_KEEP } = process.env
/// The longest that an agent may take; the machine may be busy, and opencode looks for its updates.
const LONGEST = 120_000

/// The one file of the installed packages that a pattern names; of several the shortest.
const installed = pattern => {
  const step = (folders, part) => {
    const like = new RegExp(`^${part.replace(/[.]/g, "\\.").replace("*", ".*")}$`)
    return folders.flatMap(folder => {
      if (!existsSync(folder)) return []
      return readdirSync(folder).filter(name => like.test(name)).map(name => join(folder, name))
    })
  }
  const found = pattern.split("/").reduce(step, [join(E2E_CACHE, "node_modules")])
  if (found.length === 0) throw new Error(`no \`${pattern}\` is installed in ${E2E_CACHE}`)
  return found.sort((a, b) => a.length - b.length)[0]
}

export class Place {
  constructor(agent, own) {
    this.agent = agent
    // Where the agent can be overruled it would ask by itself, so that a prompt would be seen; else it lets all pass.
    this.lenient = !((own.strict || own.person) && agent.overruled)
    // The agent has not been told to trust the project.
    this.untrusted = own.untrusted ?? false
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "acl-e2e-")))
    this.home = join(this.root, "home")
    this.project = join(this.root, "project")
    for (const folder of ["home", "project", "bin", "tmp"]) mkdirSync(join(this.root, folder))
    this.acl = join(this.root, "bin/acl")
    symlinkSync(ACL, this.acl)
    const path = [join(this.root, "bin"), dirname(process.execPath), "/usr/bin", "/bin"]
    this.env = { HOME: this.home, PATH: path.join(delimiter), TMPDIR: join(this.root, "tmp"), TERM: "dumb", LANG: "C.UTF-8" }
  }

  /// Writes a file of it.
  write(path, content) {
    const file = join(this.root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2))
    return file
  }

  there(path) {
    return existsSync(join(this.root, path))
  }

  run(...args) {
    const ran = spawnSync(this.acl, args, { cwd: this.project, env: this.env, encoding: "utf8", timeout: 30_000 })
    return { status: ran.status, out: ran.stdout, err: ran.stderr }
  }

  /// Puts acl before the agent's calls: as `acl init` does, for the project or the user. `edit`: what somebody changes then.
  guard({ user, edit }) {
    const ran = this.run("init", "--agent", this.agent.name, "--yes", ...(user ? ["--user"] : []))
    if (ran.status !== 0) throw new Error(`acl init: ${ran.out}${ran.err}`)
    if (!edit) return
    const file = join(this.project, edit.file)
    const text = readFileSync(file, "utf8")
    if (!text.includes(edit.from)) throw new Error(`${edit.file} holds no ${edit.from}`)
    writeFileSync(file, text.replaceAll(edit.from, edit.to))
  }

  /// The project's policy, as the user trusts it.
  policy(text) {
    rmSync(join(this.project, "acl.toml"), { force: true })
    if (text === null) return
    this.write("project/acl.toml", text)
    this.run("trust")
  }

  /// Another program in the place of acl; none: it is gone.
  replace(script) {
    rmSync(this.acl)
    if (script) chmodSync(this.write("bin/acl", `#!/bin/sh\n${script}\n`), 0o755)
  }

  /// Sets the agent up, with a model that makes one call.
  async open(call) {
    this.model = await mock(call)
    this.url = this.model.url
    this.agent.setup(this)
  }

  /// Lets the agent work: headless, or with a person who answers its questions.
  async work(person) {
    const { url, seen } = this.model
    const { args, env, talk } = (person ? this.agent.attend : this.agent.start)(this, person)
    const program = installed(this.agent.program)
    const [first, ...rest] = program.endsWith(".js") ? [process.execPath, program] : [program]
    const proxy = { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: "127.0.0.1,localhost" }
    const lower = Object.entries(proxy).map(([name, value]) => [name.toLowerCase(), value])
    const child = spawn(first, [...rest, ...args], {
      cwd: this.project,
      env: { ...this.env, ...proxy, ...Object.fromEntries(lower), ...env },
      stdio: [talk ? "pipe" : "ignore", "pipe", "pipe"],
      detached: true,
    })
    const said = { out: "", err: "" }
    child.stdout.on("data", part => (said.out += part))
    child.stderr.on("data", part => (said.err += part))
    const prompts = []
    if (talk) {
      const send = message => child.stdin.write(`${JSON.stringify(message)}\n`)
      child.stdin.on("error", () => {})
      createInterface({ input: child.stdout }).on("line", line => {
        if (line.startsWith("{")) talk(JSON.parse(line), { send, asked: what => prompts.push(what), end: () => child.stdin.end() })
      })
      talk(undefined, { send })
    }
    // Its own group: what it has started ends with it.
    const end = () => {
      try {
        process.kill(-child.pid, "SIGKILL")
      } catch {
        // None of it is left.
      }
    }
    process.once("exit", end)
    let late = false
    const timer = setTimeout(() => ((late = true), end()), LONGEST)
    await new Promise((done, failed) => child.once("close", done).once("error", failed))
    clearTimeout(timer)
    end()
    process.off("exit", end)
    return { ...seen, ...said, prompts, late, exit: child.exitCode }
  }

  end() {
    this.model?.close()
    if (!E2E_KEEP) rmSync(this.root, { recursive: true, force: true, maxRetries: 3 })
  }
}
