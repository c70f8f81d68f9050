import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** The environment variable by which the processes of a group are known, also a process that has left the group of the system. */
const MARK = 'PROCESS_GROUP_MARK'
/** How long processes have after SIGTERM. */
const PATIENCE_MS = 5_000
const LOOK_MS = 100

/** A command, and all processes that it starts. */
export class ProcessGroup {
  #leader
  #mark = `${MARK}=${randomUUID()}`
  /** Resolves with the exit code of the command. */
  ended

  /** `log`: the file that both streams go to. A process that was left behind would keep a pipe open. */
  constructor([command, ...args], { env, cwd, log }) {
    const [, id] = this.#mark.split('=')
    const stdio = ['ignore', log, log]
    this.#leader = spawn(command, args, { cwd, env: { ...env, [MARK]: id }, stdio, detached: true })
    this.ended = once(this.#leader, 'exit').then(
      ([code]) => code ?? 1,
      (error) => {
        console.log(error.message)
        return 1
      },
    )
  }

  /** Ends all processes, with SIGTERM and then with SIGKILL. Resolves with the command lines of the processes that ran. */
  async end() {
    const left = this.#processes().map(commandLineOf)
    this.#signal('SIGTERM')
    const deadline = Date.now() + PATIENCE_MS
    while (this.#isRunning() && Date.now() < deadline) await sleep(LOOK_MS)
    this.#signal('SIGKILL')
    return left
  }

  #isLed() {
    return this.#leader.exitCode === null && this.#leader.signalCode === null
  }

  #isRunning() {
    return this.#isLed() || this.#processes().length > 0
  }

  #signal(signal) {
    // Where there is no /proc, the group of the system is all that is known.
    const group = this.#isLed() ? [-Number(this.#leader.pid)] : []
    for (const pid of [...group, ...this.#processes()]) {
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  #processes() {
    if (!existsSync('/proc')) return []
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.filter((pid) => readProcess(pid, 'environ').includes(this.#mark)).map(Number)
  }
}

function commandLineOf(pid) {
  return `${pid} ${readProcess(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 200).trim()}`
}

/** Empty for a process that has ended, and for one that is not ours. */
function readProcess(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}
