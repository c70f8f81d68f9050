import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startManaged, type ManagedWaypost, type TestUser } from '../../support/administrator.ts'
import { needTool } from '../../support/need-tool.ts'
import { freePort, temporaryDirectory } from '../../support/waypost.ts'
import {
  copyJars,
  JAVA_TOOLS,
  prepare,
  PREPARE_LIMIT_MS,
  preparedFolder,
  type PreparedProgram,
} from '../prepared-program.ts'
import { Application } from './application.ts'
import { javaCommand } from './java-command.ts'

/** The oldest and the newest generation that is tested: the one finds the other. */
const OLD = { lib: 'lib-2021', boot: '2.7.18', cloud: '2021.0.9', alibaba: '2021.0.6.2' }
const NEW = { lib: 'lib-2025', boot: '3.5.0', cloud: '2025.0.0', alibaba: '2025.0.0.0' }

const PROGRAM: PreparedProgram = {
  folder: 'applications/spring',
  locks: ['pom.xml'],
  install: [OLD, NEW].map(({ lib, ...versions }) => copyJars(lib, versions)),
  build: [['sh', '-c', `javac -encoding UTF-8 -parameters -cp '${OLD.lib}/*' -d classes *.java`]],
}

const USER: TestUser = {
  username: 'app',
  password: 'a+b %41&=ü',
  permissions: { 'public:*:*': 'rw' },
}

const START_LIMIT_MS = 60_000
const CHANGE_LIMIT_MS = 10_000

const tools = needTool(...JAVA_TOOLS)
const note = tools.skip ? ` (${tools.reason})` : ''

describe.skipIf(tools.skip)(`Spring Cloud ${OLD.cloud} and ${NEW.cloud}, unmodified${note}`, () => {
  let server: ManagedWaypost
  const started: Application[] = []
  const start = async (name: string, { lib }: typeof OLD): Promise<[Application, string]> => {
    const port = await freePort()
    const home = temporaryDirectory(`${name}-`)
    const command = javaCommand({
      classPath: `classes:${lib}/*`,
      main: 'waypost.check.Application',
      home,
      args: flagsOf(name, port, server.waypost.port),
    })
    const application = new Application(port, { command, cwd: preparedFolder(PROGRAM), home })
    started.push(application)
    return [application, `127.0.0.1:${port}`]
  }
  const publish = (greeting: string): Promise<string> =>
    server.ask('POST', '/svc/v1/cs/configs', {
      dataId: 'greeting.properties',
      group: 'DEFAULT_GROUP',
      content: `greeting=${greeting}\n`,
    })
  let old: Application
  let fresh: Application
  let oldAddress: string
  let newAddress: string

  beforeAll(() => prepare(PROGRAM), PREPARE_LIMIT_MS)
  beforeAll(async () => {
    server = await startManaged()
    await server.addUser(USER)
    await publish('hello')
    ;[[old, oldAddress], [fresh, newAddress]] = await Promise.all([
      start('old-shop', OLD),
      start('new-shop', NEW),
    ])
    await Promise.all(started.map((one) => one.until('/ready', 'yes', START_LIMIT_MS)))
  }, START_LIMIT_MS * 2)
  afterAll(async () => {
    await Promise.all(started.map((one) => one.kill()))
    await server?.waypost.stop()
  })

  test('a value is injected when the application starts', async () => {
    expect(await old.answer('/greeting')).toBe('hello from old-shop')
    expect(await fresh.answer('/greeting')).toBe('hello from new-shop')
  })

  test('applications register with their address', async () => {
    for (const [name, address] of [
      ['old-shop', oldAddress],
      ['new-shop', newAddress],
    ] as const) {
      // An application answers before it has registered.
      const hosts = async () =>
        JSON.parse(await server.ask('GET', `/svc/v1/ns/instance/list?serviceName=${name}`)).hosts
      await expect.poll(hosts, { timeout: CHANGE_LIMIT_MS }).toHaveLength(1)
      const [{ ip, port, metadata }] = await hosts()
      expect(`${ip}:${port}`).toBe(address)
      expect(metadata).toMatchObject({ 'preserved.register.source': 'SPRING_CLOUD' })
    }
  })

  test('applications find and call each other by their names', async () => {
    await old.until('/instances?service=new-shop', JSON.stringify([newAddress]), CHANGE_LIMIT_MS)
    await fresh.until('/instances?service=old-shop', JSON.stringify([oldAddress]), CHANGE_LIMIT_MS)
    await old.until('/ask?service=new-shop', 'hello from new-shop', CHANGE_LIMIT_MS)
    await fresh.until('/ask?service=old-shop', 'hello from old-shop', CHANGE_LIMIT_MS)
  })

  test('a value in the refresh scope follows what is published', async () => {
    await publish('welcome')
    await old.until('/greeting', 'welcome from old-shop', CHANGE_LIMIT_MS)
    await fresh.until('/greeting', 'welcome from new-shop', CHANGE_LIMIT_MS)
    await publish('good day')
    await fresh.until('/ask?service=old-shop', 'good day from old-shop', CHANGE_LIMIT_MS)
  })

  test('an application that stops is no longer found', { timeout: 40_000 }, async () => {
    await old.stop()
    await fresh.until('/instances?service=old-shop', '[]', CHANGE_LIMIT_MS)
  })
})

/** How an application is set up to use the server. */
function flagsOf(name: string, port: number, serverPort: number): string[] {
  const settings = {
    'spring.application.name': name,
    'server.port': port,
    'server.address': '127.0.0.1',
    'spring.config.import': 'nacos:greeting.properties',
    'spring.cloud.nacos.server-addr': `127.0.0.1:${serverPort}`,
    'spring.cloud.nacos.username': USER.username,
    'spring.cloud.nacos.password': USER.password,
    'spring.cloud.nacos.discovery.ip': '127.0.0.1',
    // Otherwise the list of the load balancer would be up to 35 seconds old.
    'spring.cloud.loadbalancer.cache.enabled': 'false',
  }
  return Object.entries(settings).map(([key, value]) => `--${key}=${value}`)
}
