import { startManaged, type AsAdministrator, type TestUser } from '../../support/administrator.ts'
import { Authority } from '../../support/certificates.ts'
import type { Waypost } from '../../support/waypost.ts'
import { BURST_STEPS } from './burst-steps.ts'
import { CONFIG_STEPS } from './config-steps.ts'
import { NPM } from '../http/http-programs.ts'
import { prepare } from '../prepared-program.ts'
import { clientsOf, Library } from './library.ts'
import { mixedSteps } from './mixed-steps.ts'
import { NAMING_STEPS } from './naming-steps.ts'
import { type LibraryResults, type Scenario, stageOf, withEach } from './scenario.ts'
import { resultOf, takeSteps, type Ground, type Step } from './step.ts'

/** Who signs in: the user may do everything but in the namespace `forbidden`. */
export const USER: TestUser = {
  username: 'app',
  password: 'a+b %41&=ü',
  permissions: {
    'public:*:*': 'rw',
    'other*:*:*': 'rw',
    'watched*:*:*': 'rw',
    'listed*:*:*': 'rw',
    'se*ed-*:*:*': 'rw',
  },
}

let runs = 0
const PLAIN_STEPS = [...CONFIG_STEPS, ...NAMING_STEPS, ...BURST_STEPS]
const MIXED_TITLES = [
  '1.x: items are read and heard both ways',
  '1.x: the removal of an item is heard both ways',
  '1.x: instances are seen and heard both ways',
]

/** A server without authentication, with a client of 1.x beside. */
export const OPEN_SCENARIO: Scenario = {
  title: 'does what it does',
  steps: [...PLAIN_STEPS.map(({ title }) => title), ...MIXED_TITLES],
}

/** Takes the steps of `OPEN_SCENARIO` at a server. */
export async function driveOpen(
  libraries: readonly Library[],
  { url, port }: Waypost,
): Promise<LibraryResults> {
  const servers = [`127.0.0.1:${port}`]
  await prepare(NPM)
  const old = new Library(NPM, NPM.versions[0]!)
  try {
    return await withEach(libraries, async (library) => {
      const steps = [...PLAIN_STEPS, ...mixedSteps(await old.open({ servers }))]
      const client = clientsOf(library, { servers })
      return takeSteps(able(library, steps), { run: runOf(library), client, ask: askerOf(url) })
    })
  } finally {
    // Where its server goes, it asks on and on, and takes a whole core.
    await old.stop()
  }
}

/** A step of a user who may do nothing in the namespace `forbidden`. */
export const FORBIDDEN: Step = {
  title: 'sign-in: what the user has no permission for is refused',
  run: async ({ client, run }) => {
    const forbidden = await client('a', 'forbidden')
    const published = await forbidden.publish({ dataId: `refused-${run}` }, 'x').catch(() => false)
    if (published) throw new Error('a publish was not refused')
    const registered = await forbidden.register({ service: `refused-${run}` }, { port: 1 }).then(
      () => true,
      () => false,
    )
    if (registered) throw new Error('a registration was not refused')
  },
}

const KILLED = 'naming: the instances of a process that is killed are gone at once'
const SECURE_STEPS = [...CONFIG_STEPS, ...NAMING_STEPS, FORBIDDEN]

const TLS_SCENARIO: Scenario = {
  title: 'does what it does over TLS, signed in',
  steps: [...SECURE_STEPS.map(({ title }) => title), KILLED],
  overTls: true,
}

/** A server over TLS, whose clients must sign in. */
export const TLS_STAGE = stageOf(TLS_SCENARIO, async (libraries) => {
  const authority = new Authority()
  const { caFile } = authority
  const { cert, key } = authority.forServer()
  const { waypost, ask, addUser } = await startManaged(
    { settings: { 'tls-cert': cert, 'tls-key': key } },
    caFile,
  )
  await addUser(USER)
  const certificate = authority.forUser('anybody')
  const spec = { servers: [`127.0.0.1:${waypost.port}`], caFile, certificate, ...signedIn(USER) }
  try {
    return await withEach(libraries, async (library) => {
      const ground = { run: runOf(library), client: clientsOf(library, spec), ask }
      const results = await takeSteps(able(library, SECURE_STEPS), ground)
      const killed = await resultOf(() => killProcess(library.process(caFile), ground))
      return new Map([...results, [KILLED, killed]])
    })
  } finally {
    await waypost.stop()
  }
})

async function killProcess(process: { kill(): Promise<void> }, { client, ask, run }: Ground): Promise<void> {
  const service = `killed-${run}`
  await (await client('a')).register({ service }, { port: 1 })
  const list = async (): Promise<string> => ask('GET', `/svc/v1/ns/instance/list?serviceName=${service}`)
  if (!(await list()).includes('"port":1,')) throw new Error('the instance is not registered')
  await process.kill()
  const deadline = Date.now() + 10_000
  while ((await list()).includes('"port":1,')) {
    if (Date.now() > deadline) throw new Error('the instance is still there after 10 s')
  }
}

/** The steps that a library can take. */
export function able(library: Library, steps: readonly Step[]): readonly Step[] {
  return steps.filter(({ title }) => library.version.lacks?.[title] === undefined)
}

/** Makes the names of a library unique in all scenarios: some libraries limit what is asked for one name. */
export function runOf({ version }: Library): string {
  return `${version.version}-${++runs}`
}

/** Who signs in, for a client. */
export function signedIn({ username, password }: TestUser): { username: string; password: string } {
  return { username, password }
}

/** Asks a server without authentication. */
export function askerOf(url: string): AsAdministrator {
  return async (method, path, form) => {
    const body = form === undefined ? {} : { body: new URLSearchParams(form) }
    const answer = await fetch(`${url}${path}`, { method, ...body })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return text
  }
}
