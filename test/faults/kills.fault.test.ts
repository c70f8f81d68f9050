import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startWaypost } from '../support/waypost.ts'
import type { Waypost } from '../support/waypost.ts'
import { seed, times } from './fault-run.ts'
import type { Journal } from './load/journal.ts'
import { endureRounds, type Round } from './load/loaded-rounds.ts'
import { between } from './random.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const rounds = times('FAULT_KILLS', { short: 6, long: 300 })
/** One restart in this number is killed too, and one kill in this number hits a server that is stopping. */
const RARELY = 6

test(
  'kills at random moments take back nothing that was acknowledged',
  { timeout: 30_000 + rounds * 15_000 },
  async () => {
    await endureRounds({ name: 'kill -9', rounds, server: await startWaypost(), strike, forget: forgetOld })
  },
)

async function strike({ number, server, load, random }: Round): Promise<number> {
  await sleep(between(random, 50, 1_800))
  const stopping = between(random, 0, RARELY) === 0
  const cutAtMs = await cutOff(server, stopping ? between(random, 0, 60) : undefined)
  await load.stop()
  if (between(random, 0, RARELY) === 0) await killWhileStarting(server, between(random, 100, 500))
  if (!stopping) expect(load.refusals, `round ${number}, seed ${seed}`).toEqual([])
  return cutAtMs
}

/** Sends SIGKILL; with `ms`, it sends SIGTERM that many ms before. Returns the time of the kill. */
async function cutOff(server: Waypost, stoppingMs: number | undefined): Promise<number> {
  if (stoppingMs !== undefined) {
    process.kill(server.pid, 'SIGTERM')
    await sleep(stoppingMs)
  }
  const atMs = performance.now()
  await server.kill()
  return atMs
}

/** A start that does not come far: recovery after a crash is itself cut off. */
async function killWhileStarting(server: Waypost, afterMs: number): Promise<void> {
  const args = [MAIN, 'start', `--data-dir=${server.dataDir}`, `--port=${server.port}`]
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  const ended = once(child, 'close')
  await sleep(afterMs)
  child.kill('SIGKILL')
  await ended
}

/** Names and services of the last rounds are looked at again; what has its own time to live is not. */
function forgetOld(journal: Journal, round: number): void {
  const isOld = (name: string, rounds: number): boolean =>
    Number(/r(\d+)/.exec(name)?.[1] ?? round) <= round - rounds
  journal.forget([...journal.things('ephemeral'), ...journal.things('metadata')])
  journal.forget(journal.things().filter(({ name }) => isOld(name, 2)))
}
