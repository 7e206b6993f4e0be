// Cases × agents: what the model asks for, under which policy, and whether it ran and what the model was told.
import { readdirSync } from "node:fs"
import { Place } from "./place.mjs"

const { E2E_ONLY = "", E2E_KEEP } = process.env

const POLICY = `version = 1
[workspace]
roots = ["."]
[commands]
allow = ["touch"]
ask = ["mv"]
deny = [{ match = "cp", reason = "copies are made by hand here" }]
[paths.read]
allow = ["**"]
[paths.write]
allow = ["**"]
deny = [{ match = "kept", reason = "what is kept is kept" }]
[tiers]
allow = ["mcp__e2e__poke"]
[[rules]]
action = "deny"
tools = ["mcp__e2e__prod"]
reason = "nobody is prodded"
`
const MARK = "touch ran"

const UNLESS_CLOSED = agent => (agent.closed ? false : undefined)

/// A call of the model, and what must become of it. `ran`: whether `ran` (or `file`) is there afterwards; left out, what
/// happened is only noted. `told`: what stands in the result that the model gets. `person`: what somebody answers who is
/// asked. An agent has `own` cases besides.
const CASES = [
  { name: "without acl, what the policy denies runs", bare: true, shell: "cp seed ran", ran: true },
  { name: "allow: a command runs, without a prompt", shell: MARK, strict: true, ran: true },
  { name: "allow: a file is written, without a prompt", write: "ran", strict: true, ran: true },
  { name: "deny: a command does not run", shell: "cp seed ran", ran: false, told: /copies are made by hand here/ },
  { name: "deny: one of several commands", shell: "touch other && sh -c 'cp seed ran'", ran: false, told: /copies are made by hand here/ },
  { name: "deny: a file is not written", write: "kept", file: "kept", ran: false, told: /what is kept is kept/ },
  { name: "allow: a tool of an MCP server", mcp: "poke", strict: true, ran: true },
  { name: "deny: a tool of an MCP server", mcp: "prod", ran: false, told: /nobody is prodded/ },
  { name: "ask: nobody is there", shell: "mv seed ran", ran: false, told: agent => agent.asks ?? /needs a human decision/ },
  { name: "allow: nobody is asked", shell: MARK, person: "no", prompts: 0, ran: true },
  { name: "deny: nobody is asked", shell: "cp seed ran", person: "yes", prompts: 0, ran: false, told: /copies are made by hand here/ },
  { name: "ask: the person says yes", shell: "mv seed ran", person: "yes", prompts: 1, ran: true },
  { name: "ask: the person says no", shell: "mv seed ran", person: "no", prompts: 1, ran: false },
  { name: "a broken policy refuses", policy: "version = 1\n[commands\n", shell: MARK, ran: false, told: /the policy cannot be loaded/ },
  { name: "the trusted policy is gone: an ask", policy: null, shell: MARK, ran: false, told: agent => agent.asks ?? /is not in force any more/ },
  { name: "acl is gone", shell: MARK, instead: "", ran: false },
  { name: "acl is killed", shell: MARK, instead: "kill -9 $$", ran: false },
  { name: "acl ends with 1 and says nothing", shell: MARK, instead: "exit 1", ran: false },
  // What an agent makes of silence is its own affair, but for a plugin that is acl's.
  { name: "acl says nothing", shell: MARK, instead: "cat >/dev/null", ran: UNLESS_CLOSED },
]

/// What is wrong with a run; and what was seen.
const judged = async (agent, own) => {
  const place = new Place(agent, own)
  try {
    place.write("project/seed", "seed\n")
    const { shell, write, mcp } = own
    await place.open(shell ? agent.shell(shell) : write ? agent.write(`${place.project}/${write}`, "written") : agent.mcp("e2e", mcp))
    if (!own.bare) place.guard(own)
    // In the place of the one that comes with the hook.
    place.policy(own.policy === undefined ? POLICY : own.policy)
    if (own.instead !== undefined) place.replace(own.instead)
    const seen = await place.work(own.person)
    const is = place.there(`project/${own.file ?? "ran"}`)
    const results = seen.results.join("\n")
    const of = value => (typeof value === "function" ? value(agent) : value)
    const [ran, told] = [of(own.ran), of(own.told)]
    const wrong = []
    if (seen.late) wrong.push("it did not end")
    if (!seen.made) wrong.push("the model was not asked, or not offered the tool")
    if (own.prompts !== undefined && seen.prompts.length !== own.prompts) wrong.push(`${seen.prompts.length} questions to the person`)
    if (ran !== undefined && is !== ran) wrong.push(is ? "it ran" : "it did not run")
    if (told && !told.test(results)) wrong.push(`the model was not told ${told}`)
    return { wrong, noted: ran === undefined && !wrong.length, is, results, seen, root: place.root }
  } finally {
    place.end()
  }
}

// What is running ends with this.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(2))

const names = process.argv.slice(2)
const folder = new URL("agents/", import.meta.url)
const agents = []
for (const file of readdirSync(folder).sort()) {
  const agent = (await import(new URL(file, folder))).default
  if (names.length === 0 || names.includes(agent.name)) agents.push(agent)
}
if (agents.length < names.length || agents.length === 0) throw new Error(`which of ${names.join(", ")} is no agent?`)
let passed = 0
let failed = 0
for (const agent of agents) {
  const has = own => (agent.attend || !own.person) && (agent.settings || !own.edit)
  const theirs = [...CASES, ...(agent.own ?? [])].filter(own => own.name.includes(E2E_ONLY) && has(own))
  console.log(agent.title)
  for (const own of theirs) {
    const start = Date.now()
    const { wrong, noted, is, results, seen, root } = await judged(agent, own).catch(error => ({ wrong: [error.stack] }))
    const good = wrong.length === 0
    if (good && !noted) passed += 1
    if (!good) failed += 1
    const [mark, what] = noted ? ["note", `: the call ${is ? "ran" : "did not run"}`] : [good ? "ok  " : "FAIL", ""]
    console.log(`  ${mark}  ${own.name}${what} (${((Date.now() - start) / 1000).toFixed(1)} s)`)
    for (const what of wrong) console.log(`        ${what}`)
    if (good && !E2E_KEEP) continue
    console.log(`        the model was told: ${results || "nothing"}`)
    if (!seen) continue
    console.log(`        exit ${seen.exit}; asked ${seen.asked.length} times; offered ${seen.offered}`)
    console.log(`        kept from ${seen.outside.join(" ") || "nothing"}; ${root}`)
    console.log(`${seen.out.slice(-800)}\n${seen.err.slice(-800)}`)
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed ? 1 : 0
