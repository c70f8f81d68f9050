import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { UsageError } from './command-line.ts'
import { PasswordInput } from './password-input.ts'

/** A terminal that answers each prompt with the next of these texts, and the output on it. */
function terminal(...typed: string[]) {
  const shown: string[] = []
  const modes: boolean[] = []
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode(isRaw: boolean) {
      modes.push(isRaw)
      return input
    },
  })
  const prompts = new PassThrough()
  prompts.on('data', (chunk: Buffer) => {
    shown.push(chunk.toString())
    if (chunk.toString().endsWith(': ')) setImmediate(() => input.write(typed.shift() ?? '\u0003'))
  })
  const passwords = new PasswordInput(input as unknown as NodeJS.ReadStream, prompts)
  return { passwords, modes, shown: () => shown.join('') }
}

function piped(text: string): PasswordInput {
  const input = new PassThrough()
  input.end(text)
  return new PasswordInput(input as unknown as NodeJS.ReadStream)
}

describe('on a terminal', () => {
  test('a password is asked for, and not shown', async () => {
    const { passwords, modes, shown } = terminal('pärol 1\r')
    expect(await passwords.known('ann')).toBe('pärol 1')
    expect(shown()).toBe('Password of ann: \n')
    expect(modes).toEqual([true, false])
  })

  test('a new one is asked for twice', async () => {
    const { passwords, shown } = terminal('secret\r', 'secret\r')
    expect(await passwords.chosen('ann')).toBe('secret')
    expect(shown()).toBe('New password of ann: \nThe same again: \n')
    await expect(terminal('secret\r', 'secert\r').passwords.chosen('ann')).rejects.toThrow(
      'The two passwords differ.',
    )
  })

  test('a letter can be taken back, also one of two code units', async () => {
    expect(await terminal('ab\u007fc😀\u007f\u007f\r').passwords.known('ann')).toBe('a')
  })

  test('Ctrl-C ends it, and the terminal is as before', async () => {
    const { passwords, modes } = terminal('sec\u0003')
    await expect(passwords.known('ann')).rejects.toThrow(UsageError)
    expect(modes).toEqual([true, false])
  })
})

describe('from a pipe', () => {
  test('each password is a line, exactly as it is', async () => {
    const passwords = piped(' own \nthe "new" one\r\n')
    expect(await passwords.known('ann')).toBe(' own ')
    expect(await passwords.chosen('bob')).toBe('the "new" one')
    await expect(passwords.chosen('eve')).rejects.toThrow('one line for each password')
  })

  test('the last line needs no end', async () => {
    expect(await piped('secret').chosen('ann')).toBe('secret')
  })

  test('an empty password, and one that is too long, are refused', async () => {
    await expect(piped('\n').chosen('ann')).rejects.toThrow('1 to 256 characters')
    await expect(piped(`${'x'.repeat(257)}\n`).chosen('ann')).rejects.toThrow('1 to 256 characters')
    expect(await piped(`${'x'.repeat(256)}\n`).chosen('ann')).toHaveLength(256)
  })
})
