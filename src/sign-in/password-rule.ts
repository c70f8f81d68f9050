import { Refusal } from '../core/refusal.ts'

/** The rule for new passwords: `off` takes any, as old tools expect. */
export type PasswordRule = 'on' | 'off'

/** A user, and the password that the user is to have. */
export interface NewPassword {
  readonly username: string
  readonly password: string
}

const FEWEST_CHARACTERS = 10
const FEWEST_DIFFERENT = 5
/** The fewest characters besides the name of the user and the known names. */
const FEWEST_OWN = 6
/** The names of this product and of the servers that people come from. */
const KNOWN_NAMES = ['waypost', 'nacos']

/** Refuses a new password that is easily guessed: Refusal `weak-password`, with the reason. */
export async function requireStrong({ username, password }: NewPassword): Promise<void> {
  if (Array.from(password).length < FEWEST_CHARACTERS)
    throw weak(`A new password has at least ${FEWEST_CHARACTERS} characters.`)
  const folded = password.toLowerCase()
  if (new Set(folded).size < FEWEST_DIFFERENT)
    throw weak(`A new password has at least ${FEWEST_DIFFERENT} different characters.`)
  if (withoutNames(folded, [username.toLowerCase(), ...KNOWN_NAMES]).length < FEWEST_OWN)
    throw weak(
      `A new password has at least ${FEWEST_OWN} characters besides the name of its user and of the product.`,
    )
  if ((await commonPasswords()).has(folded))
    throw weak('This password is among the commonest ones: take another.')
}

function withoutNames(text: string, names: readonly string[]): string {
  return names.filter((name) => name !== '').reduce((rest, name) => rest.replaceAll(name, ''), text)
}

function weak(message: string): Refusal {
  return new Refusal('weak-password', message, {
    allowed: `at least ${FEWEST_CHARACTERS} characters, ${FEWEST_DIFFERENT} different ones, not made of the username, not among the commonest`,
  })
}

let common: Promise<ReadonlySet<string>> | undefined

/** Those of the length that the rule lets through. They are loaded for the first new password. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  common ??= import('@zxcvbn-ts/language-common/src/passwords.json', { with: { type: 'json' } }).then(
    ({ default: passwords }) => new Set(passwords.filter((one) => one.length >= FEWEST_CHARACTERS)),
  )
  return common
}
