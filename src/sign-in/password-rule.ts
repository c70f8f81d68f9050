import { Refusal } from '../core/refusal.ts'

/** The rule for new passwords: `off` takes any, as old tools expect. */
export type PasswordRule = 'on' | 'off'

/** A user, and the password that the user is to have. */
export interface NewPassword {
  readonly username: string
  readonly password: string
}

const FEWEST_CHARACTERS = 10

/** Refuses a new password that is easily guessed: Refusal `weak-password`, with the reason. */
export async function requireStrong({ username, password }: NewPassword): Promise<void> {
  if (Array.from(password).length < FEWEST_CHARACTERS)
    throw weak(`A new password has at least ${FEWEST_CHARACTERS} characters.`)
  const folded = password.toLowerCase()
  if (folded === username.toLowerCase()) throw weak('A new password is not the name of its user.')
  if ((await commonPasswords()).has(folded))
    throw weak('This password is among the commonest ones: take another.')
}

function weak(message: string): Refusal {
  return new Refusal('weak-password', message, {
    allowed: `at least ${FEWEST_CHARACTERS} characters, not the username, not among the commonest`,
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
