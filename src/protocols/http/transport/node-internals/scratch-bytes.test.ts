import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ScratchBytes } from './whole-response.ts'

const open: { close(): unknown }[] = []
let pair: () => Promise<{ near: Socket; far: Socket }>

beforeEach(async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(server)
  pair = async () => {
    const far = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const [near] = (await once(server, 'connection')) as [Socket]
    open.push({ close: () => near.destroy() }, { close: () => far.destroy() })
    return { near, far }
  }
})

afterEach(() => {
  for (const each of open.splice(0).toReversed()) each.close()
})

test('a client that takes nothing for long gets its answer as it was, whatever others got meanwhile', async () => {
  const scratch = new ScratchBytes(16 * 1024)
  const slow = await pair()
  const quick = await pair()
  slow.far.pause()
  let sent = ''
  for (let at = 0; slow.near.writableLength === 0; at++) {
    const body = String(at % 10).repeat(10_000)
    expect(scratch.write(slow.near, 'head ', { body, encoding: 'latin1' })).toBe(true)
    sent += `head ${body}`
  }
  for (let at = 0; at < 100; at++)
    scratch.write(quick.near, 'other ', { body: Buffer.alloc(12_000, 'x'), encoding: 'utf8' })
  slow.near.end()
  expect(await textOf(slow.far)).toBe(sent)
})

test('heads are Latin-1, texts are in the given encoding, bytes stay bytes', async () => {
  const scratch = new ScratchBytes(16 * 1024)
  const { near, far } = await pair()
  scratch.write(near, 'h\u00e9', { body: 'b\u00e9', encoding: 'latin1' })
  scratch.write(near, 'h\u00e9', { body: '中文', encoding: 'utf8' })
  scratch.write(near, 'h\u00e9', { body: Buffer.from([0, 255]), encoding: 'utf8' })
  near.end()
  const latin = (text: string) => Buffer.from(text, 'latin1')
  const expected = [latin('h\u00e9b\u00e9h\u00e9'), Buffer.from('中文'), latin('h\u00e9\u0000\u00ff')]
  expect(await bytesOf(far)).toEqual(Buffer.concat(expected))
})

test('an answer that might not fit is left to others', async () => {
  const scratch = new ScratchBytes(16 * 1024)
  const { near } = await pair()
  const fits = (body: string | Buffer) => scratch.write(near, 'head', { body, encoding: 'utf8' })
  expect(fits(Buffer.alloc(16_380))).toBe(true)
  expect(fits(Buffer.alloc(16_381))).toBe(false)
  // Three bytes each, at most.
  expect(fits('a'.repeat(5_460))).toBe(true)
  expect(fits('a'.repeat(5_461))).toBe(false)
})

async function bytesOf(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of socket) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

async function textOf(socket: Socket): Promise<string> {
  return (await bytesOf(socket)).toString('latin1')
}
