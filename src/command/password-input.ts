import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { UsageError } from './command-line.ts'
import { printableMessage } from './terminal-text.ts'
import { readingError } from './system-errors.ts'

/** The longest password that the server takes. */
const MAX_LENGTH = 256

/**
 * Reads passwords: from a terminal without showing them, or else line by line from standard input. A password never comes
 * from an argument, because other users of the machine see arguments.
 */
export class PasswordInput {
  readonly #input: NodeJS.ReadStream
  readonly #prompts: NodeJS.WritableStream
  #lines: AsyncIterator<string> | undefined

  constructor(input: NodeJS.ReadStream = process.stdin, prompts: NodeJS.WritableStream = process.stderr) {
    this.#input = input
    this.#prompts = prompts
  }

  /** Whether somebody can be asked. */
  get isTerminal(): boolean {
    return this.#input.isTTY
  }

  /** A password that exists. */
  async known(whose: string): Promise<string> {
    return checked(this.#input.isTTY ? await this.#hidden(`Password of ${whose}: `) : await this.#line(whose))
  }

  /** A new password: on a terminal it is asked for twice. */
  async chosen(whose: string): Promise<string> {
    if (!this.#input.isTTY) return checked(await this.#line(whose))
    const password = checked(await this.#hidden(`New password of ${whose}: `))
    if ((await this.#hidden('The same again: ')) !== password)
      throw new UsageError('The two passwords differ.')
    return password
  }

  /** The first line of a file, such as a mounted secret. */
  async inFile(file: string): Promise<string> {
    const text = await readFile(file, 'utf8').catch((cause: Error) => {
      throw new UsageError(readingError(file, cause), { cause })
    })
    return checked(text.split(/\r?\n/, 1)[0]!)
  }

  async #line(whose: string): Promise<string> {
    this.#lines ??= createInterface({ input: this.#input })[Symbol.asyncIterator]()
    const { value, done } = await this.#lines.next()
    if (done === true)
      throw new UsageError(
        `The password of ${whose} is read from standard input, one line for each password.`,
      )
    return value
  }

  #hidden(prompt: string): Promise<string> {
    const input = this.#input
    this.#prompts.write(printableMessage(prompt))
    input.setRawMode(true).setEncoding('utf8').resume()
    return new Promise((resolve, reject) => {
      let typed = ''
      const end = (finish: () => void): void => {
        input.off('data', onData).setRawMode(false).pause()
        this.#prompts.write('\n')
        finish()
      }
      const onData = (text: string): void => {
        for (const letter of text) {
          if (letter === '\r' || letter === '\n' || letter === END_OF_INPUT) return end(() => resolve(typed))
          if (letter === INTERRUPT) return end(() => reject(new UsageError('Nothing was changed.')))
          typed = letter === BACKSPACE || letter === '\b' ? withoutLast(typed) : typed + letter
        }
      }
      input.on('data', onData)
    })
  }
}

/** The bytes of Ctrl-C, Ctrl-D and the backspace key from a terminal in raw mode. */
const INTERRUPT = '\u0003'
const END_OF_INPUT = '\u0004'
const BACKSPACE = '\u007f'

function withoutLast(text: string): string {
  return Array.from(text).slice(0, -1).join('')
}

function checked(password: string): string {
  if (password !== '' && password.length <= MAX_LENGTH) return password
  throw new UsageError(`A password has 1 to ${MAX_LENGTH} characters.`)
}
