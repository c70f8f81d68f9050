import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { command, readFlags, required, runCommand, serverUrl, UsageError } from './command-line.ts'

const FLAGS = { to: { type: 'string' }, namespace: { type: 'string' }, fast: { type: 'boolean' } } as const

describe('flags', () => {
  test('are texts and switches', () => {
    expect(readFlags(['--to', 'x', '--fast'], FLAGS)).toEqual({ to: 'x', fast: true })
    expect(readFlags(['--to=x'], FLAGS)).toEqual({ to: 'x' })
    expect(readFlags(['--namespace', ''], FLAGS)).toEqual({ namespace: '' })
  })

  test.each([
    [['--quick'], /'--quick'.*\nThe flags of this command are --to, --namespace, --fast\./s],
    [['--to'], /--to/],
    [['--to', ''], /--to has an empty value/],
    [['word'], /word/],
    [['--fast=yes'], /--fast/],
  ])('%j are a usage error', (args, message) => {
    expect(() => readFlags(args, FLAGS)).toThrow(message)
    expect(() => readFlags(args, FLAGS)).toThrow(UsageError)
  })

  test('that are required say what they are for', () => {
    expect(required('to', 'x', 'the file')).toBe('x')
    expect(() => required('to', undefined, 'the file')).toThrow('--to is required: the file')
  })

  test('of an address have a default and no slash at the end', () => {
    expect(serverUrl(undefined)).toBe('http://127.0.0.1:8848')
    expect(serverUrl('https://a.example/x//')).toBe('https://a.example/x')
    expect(() => serverUrl('a.example:8848')).toThrow(/--url must be an address/)
    // An error that repeated the address would show the password.
    expect(() => serverUrl('http://ann:secret@a.example')).toThrow(
      /^--url must be without a user[^:]*: [^@]*$/,
    )
  })
})

describe('a command', () => {
  const written = { out: '', err: '' }

  beforeEach(() => {
    written.out = written.err = ''
    vi.spyOn(process.stdout, 'write').mockImplementation((text, done) => {
      written.out += String(text)
      if (typeof done === 'function') (done as () => void)()
      return true
    })
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      written.err += String(text)
      return true
    })
  })

  afterEach(() => void vi.restoreAllMocks())

  const greet = command({
    flags: { name: { type: 'string' }, json: { type: 'boolean' } },
    run: ({ name = 'world' }) => {
      if (name === 'nobody') throw new Error('nobody is there')
      return { code: 7, text: `hello ${name}\n`, json: { name } }
    },
  })

  test('prints its text without control characters and has its own exit code', async () => {
    expect(await runCommand(greet, ['--name', 'a\u001b[2Jb'])).toBe(7)
    expect(written).toEqual({ out: 'hello a\\x1b[2Jb\n', err: '' })
  })

  test('prints JSON if it is asked to', async () => {
    expect(await runCommand(greet, ['--json'])).toBe(7)
    expect(written.out).toBe('{"name":"world"}\n')
  })

  test('that fails exits with 1 and reports the error, as JSON too', async () => {
    expect(await runCommand(greet, ['--name', 'nobody', '--json'])).toBe(1)
    expect(written).toEqual({ out: '{"error":"nobody is there"}\n', err: 'waypost: nobody is there\n' })
  })

  test('with a wrong flag exits with 2', async () => {
    expect(await runCommand(greet, ['--nam', 'x'])).toBe(2)
    expect(written.err).toMatch(/^waypost: .*'--nam'/)
  })
})
