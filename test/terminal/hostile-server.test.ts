/** A server that answers every command with escape sequences in every field: none of them may reach a terminal. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Command, Option } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiDocument } from '../../src/server/doors/api-document.ts'
import { runProgram } from '../../src/command/command-line.ts'
import { makeProgram } from '../../src/main/program.ts'
import { sourceFiles } from '../support/sources.ts'
import { temporaryDirectory } from '../support/waypost.ts'

/** A window title, a cleared line, a colour by one character, and a return. */
const EVIL = 'evil\u001b]0;PWNED\u0007\u001b[2K\u009b31m\u0090q\u009c\rgone'
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/

const unused = () => Promise.reject(new Error('no command runs here'))
const parts = {
  startServer: unused,
  directoryTools: unused,
  storeCopies: unused,
  storedAccounts: () => Promise.resolve(unused),
}

type Schema = Readonly<Record<string, unknown>>
interface Answer {
  readonly $ref?: string
  readonly content?: Record<string, { schema?: Schema }>
}
interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Answer>>
  }
  readonly paths: Readonly<Record<string, Readonly<Record<string, { responses: Record<string, Answer> }>>>>
}

const api = JSON.parse(apiDocument()) as Document

/** A value of a schema, whose texts are all evil. */
function valueOf(schema: Schema, field = '', depth = 0): unknown {
  const { $ref: ref, type, properties, items, additionalProperties: more } = schema as Record<string, Schema>
  // It would continue a list for ever.
  if (field === 'next') return null
  if (typeof ref === 'string') return valueOf(api.components.schemas[nameIn(ref)]!, field, depth)
  const [first] = ((schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']) as Schema[] | undefined) ?? []
  if (first !== undefined) return valueOf(first, field, depth)
  if (depth > 12) return null
  if (properties !== undefined)
    return Object.fromEntries(
      Object.entries(properties).map(([name, one]) => [name, valueOf(one as Schema, name, depth + 1)]),
    )
  if (items !== undefined) return [valueOf(items, field, depth + 1)]
  if (typeof more === 'object') return { [EVIL]: valueOf(more, EVIL, depth + 1) }
  const plain = Array.isArray(type) ? (type as string[])[0] : (type as unknown)
  if (plain === 'integer' || plain === 'number') return 1
  return plain === 'boolean' ? true : EVIL
}

const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

function answerOf({ method = '', url = '' }: IncomingMessage): unknown {
  const { pathname } = new URL(url, 'http://x')
  const operation = api.paths[pathname]?.[method.toLowerCase()]
  const answer = operation?.responses['200']
  const whole = answer?.$ref === undefined ? answer : api.components.responses[nameIn(answer.$ref)]
  const schema = whole?.content?.['application/json']?.schema
  return schema === undefined ? { code: 0, message: EVIL, data: [{ namespace: EVIL }] } : valueOf(schema)
}

const event = (name: string, data: string): string => `id: 1\nevent: ${name}\ndata: ${data}\n\n`
const CHANGE = {
  kind: 'config',
  namespaceId: '',
  group: EVIL,
  dataId: EVIL,
  groupName: EVIL,
  serviceName: EVIL,
}

function sendEvents(response: ServerResponse): void {
  response.setHeader('content-type', 'text/event-stream')
  response.write(event('begun', '{}'))
  for (const kind of ['config', 'service'])
    response.write(event('changed', JSON.stringify({ ...CHANGE, kind })))
  response.end(event('changed', EVIL.replace('\r', '')))
}

/** The ways to answer. */
const WAYS: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
  'the fields of an answer': (request, response) => {
    if (request.url!.includes('/console/events')) return sendEvents(response)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answerOf(request)))
  },
  'the reason of a refusal': (_, response) => {
    response.statusCode = 409
    response.end(JSON.stringify({ type: `urn:${EVIL}`, detail: EVIL, message: EVIL }))
  },
  'a missing sign-in': (_, response) => {
    response.statusCode = 403
    response.end(EVIL)
  },
  'a text instead of an answer': (_, response) => void response.end(EVIL),
  'a header and a file': (_, response) => {
    response.setHeader('content-type', 'application/octet-stream')
    response.setHeader('waypost-gray-left-out', '1\u009b31m')
    response.end(EVIL)
  },
}

/** Stands for the address of the fake server. */
const SERVER = 'the server'
/** Flags by which a command goes to the server, waits for nobody, and prints what it gets. */
const SAID = ['--server', '--yes', '--once', '--to', '--tag']

/** The words of a command: made from its description, so that a new command needs no line here. */
function wordsOf([name, command]: [string, Command], files: string): string[] {
  const given = command.registeredArguments
    .filter(({ required }) => required)
    .map((one) => wordFor(one.name(), one.argChoices, files))
  const flags = command.options
    .filter(({ mandatory, long }) => mandatory || SAID.includes(long!))
    .flatMap((one) => [one.long!, ...(one.required ? [flagValue(one, name, files)] : [])])
  return [...name.split(' '), ...given, ...flags]
}

function wordFor(name: string, choices: readonly string[] | undefined, files: string): string {
  if (choices !== undefined) return choices[0]!
  if (/file/i.test(name)) return join(files, 'file')
  return /number|weight|share/i.test(name) ? '1' : /address/i.test(name) ? '10.0.0.1:80' : 'a'
}

function flagValue({ long, argChoices }: Option, name: string, files: string): string {
  if (long === '--to')
    return name.endsWith('export') ? '-' : name === 'config diff' ? 'other' : join(files, 'new')
  if (long === '--file') return join(files, 'directory')
  const isUrl = long === '--server' || (long === '--from' && !name.endsWith('import'))
  if (isUrl) return SERVER
  return long === '--from' ? join(files, 'file') : (argChoices?.[0] ?? 'a')
}

function leavesOf(command: Command, words: readonly string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[words.join(' '), command]]
  return command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]))
}

/** Commands that print bytes as they are, except on a terminal. */
const PRINTS_BYTES = new Set(['config get'])

let server: Server
let files: string
/** The number of the present command, in its address: requests of an earlier one, which ran on, get no answer. */
let run = 0
let address: string
let answer = WAYS['a text instead of an answer']!

beforeAll(async () => {
  files = temporaryDirectory('hostile-')
  mkdirSync(join(files, 'directory'))
  writeFileSync(join(files, 'directory', 'a'), 'x')
  writeFileSync(join(files, 'file'), 'secret\n')
  server = createServer((request, response) => {
    request.resume()
    const [, of, path] = /^\/(\d+)(.*)$/.exec(request.url!) ?? []
    request.url = path || '/'
    if (Number(of) === run) answer(request, response)
    else response.destroy()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  address = `http://127.0.0.1:${port}`
  Object.assign(process.env, {
    WAYPOST_CLIENT_FILE: join(files, 'client.json'),
    WAYPOST_ACCESS_TOKEN: 'token',
    WAYPOST_PASSWORD: 'secret',
    VISUAL: 'true',
  })
})

afterAll(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))))

/** Runs a command in this process, by default for half a second at most: some wait for more events. */
async function outputOf(words: readonly string[], limitMs = 500): Promise<string> {
  let shown = ''
  const url = `${address}/${++run}`
  process.env['WAYPOST_SERVER'] = url
  const line = words.map((word) => (word === SERVER ? url : word))
  const [out, err] = [process.stdout.write, process.stderr.write]
  const take = (chunk: string | Uint8Array, ...more: unknown[]): boolean => {
    shown += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    const done = more.at(-1)
    if (typeof done === 'function') queueMicrotask(done as () => void)
    return true
  }
  process.stdout.write = take as typeof process.stdout.write
  process.stderr.write = take as typeof process.stderr.write
  try {
    const running = runProgram(makeProgram(parts), line).catch((error: unknown) => (shown += String(error)))
    await Promise.race([running, new Promise((resolve) => setTimeout(resolve, limitMs))])
  } finally {
    process.stdout.write = out
    process.stderr.write = err
  }
  return shown
}

const leaves = leavesOf(makeProgram(parts))
const FORMS: Readonly<Record<string, readonly string[]>> = {
  'the fields of an answer': ['json', 'yaml', 'name'],
}

describe.each(Object.keys(WAYS))('%s', (way) => {
  test.each(leaves)(
    'of %s',
    async (...leaf) => {
      answer = WAYS[way]!
      const words = wordsOf(leaf, files)
      const hasForms = leaf[1].options.some(({ long }) => long === '--output')
      for (const form of hasForms ? (FORMS[way] ?? ['json']) : []) {
        const shown = await outputOf([...words, '--output', form])
        expect(CONTROL.exec(shown), `${words.join(' ')} -o ${form}: ${JSON.stringify(shown)}`).toBeNull()
      }
      const shown = await outputOf(words)
      if (!PRINTS_BYTES.has(leaf[0])) expect(CONTROL.exec(shown), JSON.stringify(shown)).toBeNull()
    },
    60_000,
  )
})

test('the answers of the fake server are shown', async () => {
  answer = WAYS['the fields of an answer']!
  const lists = [
    'config list',
    'config history a',
    'config diff --to x',
    'service list',
    'status',
    'user list',
  ]
  for (const words of lists)
    expect(await outputOf([...words.split(' '), '--server', SERVER], 30_000), words).toContain(
      '\\x1b]0;PWNED',
    )
})

test('one place writes to standard error', () => {
  const writers = sourceFiles().filter(({ code }) => /(?:stderr\.write|console\.\w+)\(/.test(code))
  expect(writers.map(({ file }) => file)).toEqual(['src/command/standard-error.ts'])
})
