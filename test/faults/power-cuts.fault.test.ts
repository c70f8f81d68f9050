import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, temporaryDirectory } from '../support/waypost.ts'
import type { CuttableDisk } from './disks/cuttable-disk.ts'
import { LoopDisk, needLoopDevice } from './disks/loop-disk.ts'
import { ShadowDisk } from './disks/shadow-disk.ts'
import { report, seed, times } from './fault-run.ts'
import { Journal } from './load/journal.ts'
import { startLoad } from './load/load.ts'
import { verify } from './load/verify.ts'
import { between, randomFrom } from './random.ts'

const rounds = times('FAULT_POWER_CUTS', { short: 3, long: 50 })
const limit = { timeout: 30_000 + rounds * 15_000 }
const EARLY_PERCENT = 20

describe('a power cut takes back nothing that was acknowledged', () => {
  test(`on a file system, ${rounds} times`, limit, async ({ skip }) => {
    const loop = needLoopDevice()
    skip(loop.skip, loop.reason)
    await cutAndLook('power cuts, ext4 on a loop device', new LoopDisk(temporaryDirectory('loop-')))
  })

  test(`where only what was synced is kept for sure, ${rounds} times`, limit, async ({ skip }) => {
    const gcc = needTool('gcc')
    skip(gcc.skip, gcc.reason)
    const disk = new ShadowDisk(temporaryDirectory('shadow-'), EARLY_PERCENT)
    await cutAndLook('power cuts, synced writes kept only', disk)
  })
})

async function cutAndLook(name: string, disk: CuttableDisk): Promise<void> {
  const random = randomFrom(seed)
  let acknowledged = 0
  try {
    const journal = new Journal()
    for (let round = 0; round < rounds; round++) {
      const cutAtMs = await loadUntilCut(disk, { journal, random, label: `r${round}` })
      disk.turnOn()
      const wrong = await examine(disk, { journal, cutAtMs })
      expect(wrong, `round ${round}, seed ${seed}`).toEqual([])
      acknowledged += journal.acknowledged
      journal.acknowledged = 0
      journal.forget([...journal.things('ephemeral'), ...journal.things('metadata')])
      journal.forget(journal.things('config').filter(({ name: item }) => !item.includes(`.r${round}.`)))
    }
  } finally {
    disk.close()
  }
  report(`${name}: ${rounds} rounds, ${acknowledged} acknowledged writes`)
}

/** A server under load until some time after the cut: what it acknowledges then counts like everything else. */
async function loadUntilCut(
  disk: CuttableDisk,
  { journal, random, label }: { journal: Journal; random: () => number; label: string },
): Promise<number> {
  const server = await startWaypost({ dataDir: disk.dataDir, env: disk.env })
  try {
    const load = startLoad({ url: server.url, journal, random, label })
    await sleep(between(random, 50, 1_800))
    const cutAtMs = performance.now()
    disk.cut(server.pid)
    await sleep(between(random, 0, 200))
    await server.kill()
    await load.stop()
    return cutAtMs
  } finally {
    await server.kill()
  }
}

async function examine(disk: CuttableDisk, about: { journal: Journal; cutAtMs: number }): Promise<string[]> {
  const server = await startWaypost({ dataDir: disk.dataDir, env: disk.env })
  try {
    return await verify(about.journal, { url: server.url, cutAtMs: about.cutAtMs })
  } finally {
    await server.stop()
  }
}
