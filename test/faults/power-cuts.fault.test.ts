import { setTimeout as sleep } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'
import type { CuttableDisk } from './disks/cuttable-disk.ts'
import { LoopDisk, needLoopDevice } from './disks/loop-disk.ts'
import { ShadowDisk } from './disks/shadow-disk.ts'
import { times } from './fault-run.ts'
import type { Journal } from './load/journal.ts'
import { endureRounds, type Round } from './load/loaded-rounds.ts'
import { between } from './random.ts'

const rounds = times('FAULT_POWER_CUTS', { short: 3, long: 50 })
const limit = { timeout: 30_000 + rounds * 15_000 }
const EARLY_PERCENT = 20

describe('a power cut takes back nothing that was acknowledged', () => {
  test('on a file system', limit, async ({ skip }) => {
    const loop = needLoopDevice()
    skip(loop.skip, loop.reason)
    await cutAndLook('power cuts, ext4 on a loop device', new LoopDisk(temporaryDirectory('loop-')))
  })

  test('where only what was synced is kept for sure', limit, async ({ skip }) => {
    const gcc = needTool('gcc')
    skip(gcc.skip, gcc.reason)
    const disk = new ShadowDisk(temporaryDirectory('shadow-'), EARLY_PERCENT)
    await cutAndLook('power cuts, synced writes kept only', disk)
  })
})

async function cutAndLook(name: string, disk: CuttableDisk): Promise<void> {
  const start = () => startWaypost({ dataDir: disk.dataDir, env: disk.env })
  const restart = (): Promise<Waypost> => {
    disk.turnOn()
    return start()
  }
  try {
    const strike = (round: Round): Promise<number> => cut(disk, round)
    await endureRounds({ name, rounds, share: 0.5, server: await start(), strike, restart, forget })
  } finally {
    disk.close()
  }
}

/** The server is under load until some time after the cut: its acknowledgements of that time count like all others. */
async function cut(disk: CuttableDisk, { server, random }: Round): Promise<number> {
  await sleep(between(random, 50, 1_800))
  const cutAtMs = performance.now()
  disk.cut(server.pid)
  await sleep(between(random, 0, 200))
  await server.kill()
  return cutAtMs
}

function forget(journal: Journal, round: number): void {
  journal.forget([...journal.things('ephemeral'), ...journal.things('metadata')])
  journal.forget(journal.things('config').filter(({ name }) => !name.includes(`.r${round}.`)))
}
