/**
 * `npm run screenshots`: makes the screenshots of README.md and docs/console.md with the present build, in docs/images. Needs
 * chromium (and a font with Chinese characters, such as fonts-noto-cjk).
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { endWithNpm, prepare, root } from './prepare.js'
import { AFTER, BEFORE, gray, listen, ORDERS, tell } from './screenshots-story.js'

const PASSWORD = 'a good password'
const CODE = /code=([\w-]+)/
const ADDRESS = /(http:\/\/127\.0\.0\.1:\d+)/
const AGENTS = ['Nacos-Java-Client:v1.4.8', 'Nacos-Go-Client:v1.1.4', 'nacos-sdk-python/0.1.14']
/** Resolves when nothing is being loaded any more; a text, because it runs in the page. */
const SETTLED = `new Promise((done) => {
  const look = () =>
    document.querySelector('.loading, .code-loading, .busy-line') === null ? done() : setTimeout(look, 20)
  requestAnimationFrame(() => requestAnimationFrame(look))
})`
/** Until the one that is silent is unhealthy. */
const SILENCE_MS = 2_500

endWithNpm()
await prepare()
const images = join(root, 'docs', 'images')
mkdirSync(images, { recursive: true })
const data = mkdtempSync(join(tmpdir(), 'waypost-screenshots-'))
const server = await start()
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--font-render-hinting=none'],
})
try {
  const ask = await signedIn()
  await tell(ask)
  await new Promise((resolve) => setTimeout(resolve, SILENCE_MS))
  await english(ask)
  await chinese()
} finally {
  await browser.close()
  server.child.kill('SIGTERM')
  rmSync(data, { recursive: true, force: true, maxRetries: 5 })
}
process.exit(0)

/** A server with authentication, on a port that is free. */
function start() {
  const flags = ['start', '--auth', '--port', '0', '--grpc-port', '0', '--data-dir', data]
  const child = spawn(process.execPath, [join(root, 'dist', 'main.js'), ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return new Promise((resolve, reject) => {
    let said = ''
    const read = (text) => {
      said += text
      const [code, url] = [CODE.exec(said)?.[1], ADDRESS.exec(said)?.[1]]
      if (code !== undefined && url !== undefined) resolve({ child, url, code })
    }
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', read)
    child.on('exit', () => reject(new Error(`The server did not start: ${said}`)))
  })
}

/** Makes the first administrator; what asks the server in that name. */
async function signedIn() {
  const send = async (asked, form, headers = {}) => {
    const [method = 'POST', path] = asked.split(' ')
    const answer = await fetch(server.url + path, { method, body: new URLSearchParams(form), headers })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${asked} answered ${answer.status}: ${text}`)
    return text
  }
  await send('POST /svc/v1/auth/users/admin', { code: server.code, password: PASSWORD })
  const login = await send('POST /svc/v1/auth/login', { username: 'nacos', password: PASSWORD })
  const Authorization = `Bearer ${JSON.parse(login).accessToken}`
  return (asked, form, headers = {}) => send(asked, form, { Authorization, ...headers })
}

/** A page that is signed in. */
async function open(looks) {
  const context = await browser.newContext({
    viewport: { width: 1200, height: 720 },
    reducedMotion: 'reduce',
    ...looks,
  })
  const page = await context.newPage()
  await page.goto(`${server.url}/ui/#/home`)
  await page.locator('input').first().fill('nacos')
  await page.locator('input[type=password]').fill(PASSWORD)
  await page.locator('button[type=submit]').click()
  await page.locator('.connection .dot.good').waitFor()
  const go = async (hash) => {
    await page.evaluate(`void (location.hash = ${JSON.stringify(hash)})`)
    await page.locator('main h1').waitFor()
    await page.evaluate(SETTLED)
  }
  return { page, go, shoot: (name) => page.screenshot({ path: join(images, `${name}.png`) }) }
}

async function english(ask) {
  const { page, go, shoot } = await open({ colorScheme: 'light', locale: 'en-US' })
  const polls = AGENTS.map((agent) => listen(ask, agent, BEFORE))
  const { dataId, group } = ORDERS
  await go(`#/config?ns=prod&group=${group}&dataId=${dataId}&edit=yes`)
  await page.locator('.cm-content').first().click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(AFTER)
  await page.getByRole('button', { name: 'Review and publish' }).click()
  await page.getByLabel('Comment').fill('The sale begins')
  await page.getByText('Clients that listen now: 3').waitFor()
  await shoot('review')
  await page.locator('dialog[open]').getByRole('button', { name: 'Publish' }).click()
  await page.getByLabel('Type Production to continue').fill('Production')
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.getByText('0 of 3 clients').waitFor()
  await Promise.all(polls)
  const again = AGENTS.slice(1).map((agent) => listen(ask, agent, AFTER))
  await page.getByText('2 of 3 clients').waitFor()
  await shoot('who-has-it')
  await gray(ask)
  await go(`#/config?ns=prod&group=${group}&dataId=${dataId}&tab=gray`)
  await page.getByText('It is for').waitFor()
  await page.evaluate('scrollTo(0, 0)')
  await shoot('gray-version')
  await go('#/service?ns=prod&group=DEFAULT_GROUP&name=orders')
  await page.getByText('removed in').first().waitFor()
  await shoot('instances')
  await page.context().close()
  for (const poll of again) poll.catch(() => {})
}

async function chinese() {
  const { go, shoot } = await open({ colorScheme: 'dark', locale: 'zh-CN' })
  await go('#/home')
  await shoot('overview-zh-dark')
}
