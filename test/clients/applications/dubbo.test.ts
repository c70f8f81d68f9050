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

const OLD = '3.2.16'
const NEW = '3.3.5'

const PROGRAM: PreparedProgram = {
  folder: 'applications/dubbo',
  locks: ['pom.xml'],
  install: [OLD, NEW].map((version) => copyJars(`lib-${version}`, { dubbo: version })),
  build: [['sh', '-c', `javac -encoding UTF-8 -cp 'lib-${OLD}/*' -d classes *.java`]],
}

const USER: TestUser = { username: 'app', password: 'secret-1', permissions: { 'public:*:*': 'rw' } }

const START_LIMIT_MS = 60_000
const CHANGE_LIMIT_MS = 20_000

/** Turns calls of the consumer into an answer of its own, as operators do while a provider has a fault. */
const RULE = `configVersion: v3.0
scope: application
key: consumer
enabled: true
configs:
  - side: consumer
    parameters:
      mock: "force:return nobody is there"
`

const tools = needTool(...JAVA_TOOLS)
const note = tools.skip ? ` (${tools.reason})` : ''

describe.skipIf(tools.skip)(`Dubbo ${OLD} and ${NEW}, unmodified${note}`, () => {
  let server: ManagedWaypost
  const started: Application[] = []
  const run = (name: string, version: string, port: number): Application => {
    const home = temporaryDirectory(`${name}-`)
    const command = javaCommand({
      classPath: `classes:lib-${version}/*`,
      main: name === 'provider' ? 'waypost.check.Provider' : 'waypost.check.Consumer',
      properties: propertiesOf(name, port, server.waypost.port),
      args: [String(port)],
      home,
    })
    const application = new Application(port, { command, cwd: preparedFolder(PROGRAM), home })
    started.push(application)
    return application
  }
  const publish = (dataId: string, content: string): Promise<string> =>
    server.ask('POST', '/svc/v1/cs/configs', { dataId, group: 'dubbo', content })
  let provider: Application
  let consumer: Application

  beforeAll(() => prepare(PROGRAM), PREPARE_LIMIT_MS)
  beforeAll(async () => {
    server = await startManaged()
    await server.addUser(USER)
    await publish('setting', 'first')
    provider = run('provider', OLD, await freePort())
    consumer = run('consumer', NEW, await freePort())
    await consumer.until('/greet', 'hello world', START_LIMIT_MS)
  }, START_LIMIT_MS * 2)
  afterAll(async () => {
    await Promise.all(started.map((one) => one.kill()))
    await server?.waypost.stop()
  })

  test('a consumer calls a provider that it has found', async () => {
    expect(await consumer.answer('/greet')).toBe('hello world')
    const { doms } = JSON.parse(await server.ask('GET', '/svc/v1/ns/service/list?pageNo=1&pageSize=10'))
    expect(doms).toEqual(expect.arrayContaining(['provider', 'providers:waypost.check.Greeter::']))
  })

  test('a provider says which application has its interface', async () => {
    const item = '/svc/v1/cs/configs?dataId=waypost.check.Greeter&group=mapping'
    expect(await server.ask('GET', item)).toBe('provider')
  })

  test('an item of the configuration centre is read, and followed', async () => {
    expect(await consumer.answer('/setting')).toBe('first')
    await publish('setting', 'second')
    await consumer.until('/setting', 'second', CHANGE_LIMIT_MS)
  })

  test('a rule of the configuration centre counts while it is there', async () => {
    await publish('consumer.configurators', RULE)
    await consumer.until('/greet', 'nobody is there', CHANGE_LIMIT_MS)
    await server.ask('DELETE', '/svc/v1/cs/configs?dataId=consumer.configurators&group=dubbo')
    await consumer.until('/greet', 'hello world', CHANGE_LIMIT_MS)
  })

  test('a provider that starts elsewhere is found', { timeout: 60_000 }, async () => {
    await provider.kill()
    run('provider', NEW, await freePort())
    await consumer.until('/greet', 'hello world', START_LIMIT_MS)
  })
})

/** How an application is set up to use the server. It registers an address of the machine: Dubbo refuses those of loopback. */
function propertiesOf(name: string, port: number, serverPort: number): Record<string, string | number> {
  const centres = ['registry', 'config-center', 'metadata-report'].flatMap((centre) => [
    [`dubbo.${centre}.address`, `nacos://127.0.0.1:${serverPort}`],
    [`dubbo.${centre}.username`, USER.username],
    [`dubbo.${centre}.password`, USER.password],
  ])
  return {
    'dubbo.application.name': name,
    'dubbo.application.qos-enable': 'false',
    'dubbo.protocol.name': 'dubbo',
    'dubbo.protocol.port': port,
    'org.slf4j.simpleLogger.defaultLogLevel': 'warn',
    ...Object.fromEntries(centres),
  }
}
