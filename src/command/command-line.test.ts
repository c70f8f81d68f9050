import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { action, DiffersError, done, runProgram } from './command-line.ts'
import { outputOption } from './output.ts'

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

  const run = (...args: string[]): Promise<number> => {
    const program = new Command('waypost').exitOverride().configureOutput({
      writeErr: (text) => (written.err += text),
    })
    program
      .command('greet')
      .option('--name <name>')
      .option('--json')
      .addOption(outputOption())
      .action(
        action<{ name?: string }>(({ name = 'world' }) => {
          if (/^no.?body$/.test(name)) throw new Error(`${name} is there`)
          if (name === 'absent') throw new DiffersError('there is no such thing')
          const bytes = name === 'bytes' ? { bytes: Buffer.from('\u001b\r\n') } : {}
          return { code: 1, text: `hello ${name}\n`, json: { name }, names: [name], ...bytes }
        }),
      )
    return runProgram(program, ['greet', ...args])
  }

  test('shows characters that nobody sees in the names of its messages', async () => {
    expect(done('a\u3164b\tis deleted.\nDone.').text).toBe('a\\u{3164}b\tis deleted.\nDone.\n')
    expect(await run('--name', 'no\u202ebody')).toBe(2)
    expect(written.err).toBe('waypost: no\\u{202e}body is there\n')
  })

  test('prints its text without control characters and has its own exit code', async () => {
    expect(await run('--name', 'a\u001b[2Jb')).toBe(1)
    expect(written).toEqual({ out: 'hello a\\x1b[2Jb\n', err: '' })
  })

  test('prints bytes as they are', async () => {
    await run('--name', 'bytes')
    expect(written.out).toBe('\u001b\r\n')
  })

  test.each([
    [['--json'], '{"name":"world"}\n'],
    [['-o', 'json'], '{"name":"world"}\n'],
    [['-o', 'yaml'], 'name: world\n'],
    [['--output=name'], 'world\n'],
    [['--output=table', '--name', 'bytes'], 'hello bytes\n'],
  ])('prints the format that %j ask for', async (args, text) => {
    expect(await run(...args)).toBe(1)
    expect(written.out).toBe(text)
  })

  test('that fails exits with 2 and reports the error, as JSON too', async () => {
    expect(await run('--name', 'nobody', '--json')).toBe(2)
    expect(written).toEqual({ out: '{"error":"nobody is there"}\n', err: 'waypost: nobody is there\n' })
  })

  test('that finds a difference exits with 1', async () => {
    expect(await run('--name', 'absent')).toBe(1)
    expect(written).toEqual({ out: '', err: 'waypost: there is no such thing\n' })
  })

  test.each([
    [['--nam', 'x'], /unknown option '--nam'\s+\(Did you mean --name\?\)/],
    [['word'], /too many arguments/],
    [['--name'], /argument missing/],
    [['--name='], /--name has an empty value/],
    [['-o', 'xml'], /Allowed choices are table, json, yaml, name/],
  ])('with the wrong words %j exits with 2', async (args, message) => {
    expect(await run(...args)).toBe(2)
    expect(written.err).toMatch(message)
  })
})
