/** The HTTP client of the JDK offers h2c with each request. It keeps its connection. */
import { execFile } from 'node:child_process'
import { connect, createServer, type AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

const run = promisify(execFile)
const java = needTool('java', 'javac')
beforeEach(({ skip }) => skip(java.skip, java.reason))

let waypost: Waypost | undefined
let connections = 0
const counting = createServer((socket) => {
  connections++
  const onward = connect(waypost!.port, '127.0.0.1')
  socket.pipe(onward).pipe(socket)
  socket.on('error', () => onward.destroy())
  onward.on('error', () => socket.destroy())
})

beforeAll(async () => {
  if (java.skip) return
  waypost = await startWaypost()
  await new Promise<void>((resolve) => counting.listen(0, '127.0.0.1', resolve))
}, 120_000)
afterAll(async () => {
  counting.close()
  await waypost?.stop()
})

test('twenty requests of the JDK use one connection', async () => {
  const url = `http://127.0.0.1:${(counting.address() as AddressInfo).port}`
  const { stdout } = await run('java', ['-Xmx128m', 'test/clients/java-http/TenRequests.java', url])
  expect(stdout.trim().split('\n')).toEqual(Array(20).fill('200'))
  expect(connections).toBe(1)
}, 120_000)
