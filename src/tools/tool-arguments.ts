import { parseArgs } from 'node:util'

/** The words of a command cannot be understood. The message is for who typed them. */
export class WrongArguments extends Error {}

/** What the flags of a tool may be: with a value, or a switch. */
export type FlagKinds = Readonly<Record<string, 'value' | 'switch'>>

/** Flags as they were given. */
export interface Flags {
  value(name: string): string | undefined
  required(name: string): string
  has(name: string): boolean
}

/** Reads the flags of a tool. Throws WrongArguments with what there is. */
export function readToolFlags(args: readonly string[], kinds: FlagKinds): Flags {
  const options = Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [
      name,
      { type: kind === 'value' ? ('string' as const) : ('boolean' as const) },
    ]),
  )
  let values: Readonly<Record<string, unknown>>
  try {
    values = parseArgs({ args: [...args], options, strict: true }).values
  } catch (error) {
    const known = Object.keys(kinds).map((name) => `--${name}`)
    throw new WrongArguments(`${(error as Error).message}\nThere are ${known.join(', ')}.`)
  }
  const value = (name: string) => {
    const given = values[name]
    if (given === '') throw new WrongArguments(`The flag --${name} has an empty value.`)
    return typeof given === 'string' ? given : undefined
  }
  const required = (name: string) => {
    const given = value(name)
    if (given === undefined) throw new WrongArguments(`The flag --${name} is required.`)
    return given
  }
  return { value, required, has: (name) => values[name] === true }
}
