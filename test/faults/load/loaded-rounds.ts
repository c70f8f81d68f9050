import { expect } from 'vitest'
import type { Waypost } from '../../support/waypost.ts'
import { report, roundsOf, seed } from '../fault-run.ts'
import { type Random, randomFrom } from '../random.ts'
import { Journal } from './journal.ts'
import { type Load, startLoad } from './load.ts'
import { verify } from './verify.ts'

/** The dependencies of a fault in one round. */
export interface Round {
  readonly number: number
  readonly server: Waypost
  readonly load: Load
  readonly random: Random
}

/** A fault under load, again and again. After each time all acknowledged writes are compared with what is left. */
export interface LoadedRounds {
  /** For the line of results. */
  readonly name: string
  readonly rounds: number
  /** The share of the time of the file. */
  readonly share?: number
  /** The server of the first round. */
  readonly server: Waypost
  /** Does the damage, which ends the server. Resolves with the moment of the damage, ms. */
  readonly strike: (round: Round) => Promise<number>
  /** The next server on the data that is left; by default the same one. */
  readonly restart?: (server: Waypost) => Promise<Waypost>
  readonly writeBehindMs?: number
  /** Forgets what the next rounds do not look at. */
  readonly forget: (journal: Journal, round: number) => void
}

/** Runs the rounds, and ends the last server. */
export async function endureRounds(options: LoadedRounds): Promise<void> {
  const { name, rounds, share, strike, forget, writeBehindMs, restart = (ended) => ended.restart() } = options
  const random = randomFrom(seed)
  const journal = new Journal()
  const sum = { rounds: 0, acknowledged: 0, items: 0 }
  let { server } = options
  try {
    for (const number of roundsOf(rounds, share)) {
      const load = startLoad({ url: server.url, journal, random, label: `r${number}` })
      const cutAtMs = await strike({ number, server, load, random })
      await load.stop()
      server = await restart(server)
      const examination = {
        url: server.url,
        cutAtMs,
        ...(writeBehindMs === undefined ? {} : { writeBehindMs }),
      }
      expect(
        await verify(journal, examination),
        `round ${number}, seed ${seed}; ${load.refusals[0]}`,
      ).toEqual([])
      sum.rounds++
      sum.acknowledged += journal.acknowledged
      sum.items += journal.things('config').length
      journal.acknowledged = 0
      forget(journal, number)
    }
  } finally {
    await server.kill()
  }
  report(
    `${name}: ${sum.rounds} rounds, ${sum.acknowledged} acknowledged writes, ${sum.items} items compared with their history`,
  )
}
