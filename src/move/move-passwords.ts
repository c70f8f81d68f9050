import { PasswordInput } from '../command/password-input.ts'

/** A password: of an environment variable, or asked for. It never is in an argument, which other users of the machine see. */
export async function passwordFrom(variable: string, whose: string): Promise<string> {
  return process.env[variable] ?? (await new PasswordInput().known(whose))
}
