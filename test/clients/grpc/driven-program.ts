import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { endGroup, type Command } from '../prepared-program.ts'
import { Watch } from './watch.ts'

/** How a program is run. */
export interface Surroundings {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

interface Line {
  readonly id?: number
  readonly value?: unknown
  readonly error?: string
  readonly watch?: string
  readonly heard?: unknown
}

/** A library may try servers that do not run before it finds one that does. */
const ANSWER_LIMIT_MS = 120_000

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => endGroup(child.pid)))

/**
 * A process with a client library that obeys commands, each a line of JSON on its input: `{"id":1,"do":"read","client":"a",…}`.
 * It answers `{"id":1,"value":…}` or `{"id":1,"error":"…"}`, in any order, and prints `{"watch":"w1","heard":…}` for what its
 * listeners are told. Other lines are logs of the library.
 */
export class DrivenProgram {
  readonly #child: ChildProcess
  readonly #pending = new Map<number, Pending>()
  readonly #watches = new Map<string, Watch<unknown>>()
  #commands = 0
  #log = ''

  constructor([program, ...args]: Command, surroundings: Surroundings) {
    // A group of its own, so that helper processes of the library end with it.
    this.#child = spawn(program, args, { ...surroundings, detached: true, stdio: 'pipe' })
    running.add(this.#child)
    const { stdin, stdout, stderr } = this.#child
    stdin!.on('error', () => undefined)
    createInterface({ input: stdout! }).on('line', (line) => this.#read(line))
    createInterface({ input: stderr! }).on('line', (line) => this.#keep(line))
    this.#child.on('error', (error) => this.#keep(error.message))
    this.#child.on('close', (code) => this.#ended(code))
  }

  /** Sends a command. Resolves with its value; rejects with the error of the library. */
  do(command: { readonly do: string; readonly [key: string]: unknown }): Promise<unknown> {
    const id = ++this.#commands
    return new Promise((resolve, reject) => {
      if (hasEnded(this.#child)) return reject(new Error(`the program has ended; its log:\n${this.#log}`))
      const timer = setTimeout(() => {
        this.#pending.delete(id)
        reject(
          new Error(
            `no answer within ${ANSWER_LIMIT_MS} ms to ${JSON.stringify(command)}; log:\n${this.#log}`,
          ),
        )
      }, ANSWER_LIMIT_MS)
      const settled = <T>(settle: (value: T) => void): ((value: T) => void) => {
        return (value) => {
          clearTimeout(timer)
          settle(value)
        }
      }
      this.#pending.set(id, { resolve: settled(resolve), reject: settled(reject) })
      this.#child.stdin!.write(`${JSON.stringify({ id, ...command })}\n`)
      return undefined
    })
  }

  /** The notifications of the watch of that name. */
  watch<T>(name: string): Watch<T> {
    const known = this.#watches.get(name)
    if (known !== undefined) return known as Watch<T>
    const fresh = new Watch<unknown>()
    this.#watches.set(name, fresh)
    return fresh as Watch<T>
  }

  /** Sends SIGKILL to the program and what it has started, as when its machine runs out of memory. */
  async kill(): Promise<void> {
    if (hasEnded(this.#child)) return
    const closed = new Promise((resolve) => this.#child.once('close', resolve))
    endGroup(this.#child.pid)
    await closed
  }

  #read(text: string): void {
    const line = parsed(text)
    if (line?.watch !== undefined) return this.watch(line.watch).hear(line.heard)
    const pending = line?.id === undefined ? undefined : this.#pending.get(line.id)
    if (pending === undefined) return this.#keep(text)
    this.#pending.delete(line!.id!)
    if (line!.error === undefined) pending.resolve(line!.value)
    else pending.reject(new Error(line!.error))
  }

  #keep(text: string): void {
    this.#log = `${this.#log}${text}\n`.slice(-20_000)
  }

  #ended(code: number | null): void {
    running.delete(this.#child)
    const error = new Error(`the program ended with ${code}; its log:\n${this.#log}`)
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}

function parsed(text: string): Line | undefined {
  try {
    return text.startsWith('{') ? (JSON.parse(text) as Line) : undefined
  } catch {
    return undefined
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
