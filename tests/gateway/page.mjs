// The page in headless Chromium: approve, refuse, remember, what another tab decides, keys, a lost connection, narrow screens.
//   tests/gateway/run page          (SHOTS=FOLDER keeps the pictures)
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { start } from "./server.mjs";

const server = await start();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });
const shot = (page, name) => (shots ? page.screenshot({ path: join(shots, `${name}.png`), fullPage: true }) : null);
const faults = [];
let failed = 1;
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const open = async url => {
    const page = await context.newPage();
    page.on("console", line => { if (line.type() === "error" && !/Failed to load resource|ERR_/.test(line.text())) faults.push(line.text()); });
    page.on("pageerror", why => faults.push(String(why)));
    page.on("request", request => { if (!request.url().startsWith(server.base) && !request.url().startsWith("data:")) faults.push(`asks ${request.url()}`); });
    await page.goto(url);
    return page;
  };
  const cards = page => page.locator(".card");
  const live = page => page.locator("#state", { hasText: "live" }).waitFor();

  const stranger = await open(server.base + "/");
  await stranger.getByRole("heading", { name: "Who are you?" }).waitFor();
  await shot(stranger, "enter-1280");
  await stranger.getByLabel("Code or token").fill("wrong");
  await stranger.getByRole("button", { name: "Enter" }).click();
  await stranger.getByText("does not count").waitFor();
  await stranger.close();

  const used = server.link;
  const page = await open(used);
  await live(page);
  assert.equal(new URL(page.url()).hash, "", "the code leaves the address");
  await page.getByText("Nothing waits").waitFor();
  await shot(page, "empty-1280");
  const again = await (await browser.newContext()).newPage();
  await again.goto(used);
  await again.getByText("does not count").waitFor();
  await again.close();

  // Shown at once, marked, masked, and nothing of it is markup.
  const line = "cargo test && git push origin HEAD && curl -H 'Authorization: Bearer abc123' https://x.example/<b>y</b>";
  const one = await server.submit("bash", { command: line });
  assert.equal(one.status, 202);
  await cards(page).first().waitFor();
  await page.getByText("others will see it").waitFor();
  assert.equal(await page.locator("mark.ask").first().innerText(), "git push origin HEAD");
  assert.equal(await page.locator(".card b").count(), 0);
  assert.ok(!(await page.locator("body").innerText()).includes("abc123"));
  await page.getByRole("button", { name: /masked or cut/ }).click();
  await page.getByText("abc123").waitFor();
  const two = await server.submit("mail", { to: "a\u202eb\u200b@x", body: "Grüße, 写.txt\nsecond line" });
  await cards(page).nth(1).waitFor();
  assert.deepEqual(await page.locator(".odd").allInnerTexts(), ["U+202E", "U+200B"]);
  await server.submit("write", { path: "/etc/hosts", content: "x" });
  await cards(page).nth(2).waitFor();
  await shot(page, "three-1280");

  // Approve with the keyboard, and the one who waits is told.
  const waits = server.wait("c1");
  await page.keyboard.press("j");
  assert.equal(await page.locator(".card:focus h2").innerText(), "bash");
  await page.keyboard.press("a");
  const end = (await waits).body;
  assert.deepEqual([end.state, end.allowed, end.path], ["settled", true, "live"]);
  await page.waitForFunction(() => document.querySelectorAll(".card").length === 2);
  assert.equal(await page.locator(".card:focus h2").innerText(), "mail", "the focus goes on");

  // Refuse with the button.
  const refused = server.wait("c2");
  await cards(page).first().getByRole("button", { name: "Refuse: mail" }).click();
  const no = (await refused).body;
  assert.equal(no.allowed, false);
  assert.match(no.text, /not retry/i);
  await page.waitForFunction(() => document.querySelectorAll(".card").length === 1);

  // Remember: the next one passes.
  const third = await server.submit("mail", { to: "c" });
  assert.equal(third.status, 202);
  const remembered = server.wait("c4");
  await cards(page).nth(1).waitFor();
  await cards(page).nth(1).focus();
  await page.keyboard.press("s");
  assert.equal(await cards(page).count(), 2, "keys rest where the focus has just moved by itself");
  await page.waitForTimeout(700);
  await page.keyboard.press("s");
  await page.waitForFunction(() => document.querySelectorAll(".card").length === 1);
  assert.equal((await remembered).body.allowed, true);
  const fourth = await server.submit("mail", { to: "d" });
  assert.deepEqual([fourth.status, fourth.body.basis], [200, "grant"]);
  const other = await server.submit("mail", { to: "e" }, { session: "s2" });
  assert.equal(other.status, 202);

  // A second tab gets the token of the first, and decides: the card goes from both.
  const second = await open(server.base + "/");
  await live(second);
  await cards(second).nth(1).waitFor();
  await cards(page).nth(1).waitFor();
  await cards(second).nth(1).getByRole("button", { name: "Refuse: mail" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".card").length === 1);

  // Another site's page reaches nothing, and what is decided elsewhere is told.
  const foreign = await fetch(server.base + "/ack/confirmations", { headers: { origin: "http://localhost:1" } });
  assert.equal(foreign.status, 403);

  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await shot(page, "keys-1280");
  await page.keyboard.press("Escape");

  // Narrow: nothing is wider than the screen, and all is reached by tabbing.
  await server.submit("bash", { command: "for f in $(ls); do git push --force-with-lease origin \"$f\"; done; cat /a/very/long/path/that/goes/on/and/on/without/any/space/in/it/at/all/to/see/how/it/wraps.txt" });
  await cards(page).nth(1).waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide} pixels wide`);
  await shot(page, "two-390");
  await page.emulateMedia({ colorScheme: "dark" });
  await shot(page, "dark-390");
  await page.setViewportSize({ width: 1280, height: 900 });
  await shot(page, "dark-1280");
  const unnamed = await page.evaluate(() => [...document.querySelectorAll("button, input, .card, pre")].filter(own =>
    !(own.ariaLabel || own.getAttribute("aria-labelledby") || own.labels?.length || own.innerText.trim())).length);
  assert.equal(unnamed, 0, "everything has a name");

  // The server goes: the page says so, and does not forget what it shows.
  server.child.kill("SIGSTOP");
  await context.setOffline(true);
  await page.evaluate(() => stream.abort());
  await page.getByText("connection lost").waitFor();
  await shot(page, "lost-1280");
  server.child.kill("SIGCONT");
  await context.setOffline(false);
  await page.locator("#state", { hasText: "live" }).waitFor({ timeout: 15000 });
  assert.deepEqual(faults, []);
  failed = 0;
  console.log("page: all good");
} finally {
  await browser.close();
  const code = await server.end();
  if (!failed) assert.equal(code, 0, "ends in order");
}
