import { expect } from 'vitest'
import { taggedKey } from '../load/gray-clients.ts'
import type { ClusterLoad } from '../load/load.ts'
import type { StruckCluster } from '../network/struck-cluster.ts'
import { holds, SLACK } from '../strikes/scene.ts'
import * as verdict from '../strikes/verdict.ts'
import {
  connectedIn,
  differences,
  digestOf,
  finalReads,
  grayItemsIn,
  itemsIn,
  type Picture,
  pictureOf,
} from './final-state.ts'
import { linearizability } from './linearizable.ts'

/** Servers are equal so soon after the last change. */
const EQUAL_MS = 5_000
const MOST_SHOWN = 10

/** The servers under load. */
export interface Loaded {
  readonly cluster: Pick<StruckCluster, 'servers'>
  readonly load: ClusterLoad
}

/** Stops the changes, waits until all servers show the same, and continues. Returns what each shows. */
export async function equalPictures({ cluster, load }: Loaded): Promise<Picture[]> {
  await load.pause()
  try {
    let pictures: Picture[] = []
    let different: string[] = []
    const areEqual = async (): Promise<boolean> => {
      pictures = await Promise.all(
        cluster.servers.map(({ url }) => pictureOf(url, load.items, load.grayItems)),
      )
      different = pictures.slice(1).flatMap((other) => differences(pictures[0]!, other))
      return new Set(pictures.map(digestOf)).size === 1
    }
    await holds('all servers show the same', areEqual, EQUAL_MS * SLACK).catch((error: unknown) => {
      throw new Error(`the servers differ: ${different.slice(0, MOST_SHOWN).join('\n')}`, { cause: error })
    })
    const present = new Map([
      ...itemsIn(pictures[0]!, load.items).map(({ item, present: now }) => [item, now] as const),
      ...grayItemsIn(pictures[0]!, load.grayItems).flatMap(
        ({ item, formal, tagged }) =>
          [
            [item, formal],
            [taggedKey(item), tagged],
          ] as const,
      ),
    ])
    const isSeen = (): boolean => load.watchers.every(({ item, value }) => value === present.get(item))
    await holds('all watchers have the last state', isSeen, EQUAL_MS * SLACK)
    const listed = connectedIn(pictures[0]!)
    const isKnown = (): boolean =>
      load.subscribers.every(({ addresses }) => addresses?.join() === listed.join())
    await holds('all subscribers have the last list', isKnown, EQUAL_MS * SLACK)
    return pictures
  } finally {
    load.resume()
  }
}

/** Fails unless all writes of the load have one order, which all reads fit to. Returns the number of history records. */
export async function haveOneOrder(load: ClusterLoad, pictures: readonly Picture[]): Promise<number> {
  const { operations } = load.recording
  const items = itemsIn(pictures[0]!, load.items)
  const grayItems = grayItemsIn(pictures[0]!, load.grayItems)
  const keys = { items: load.items, grayItems: load.grayItems, instances: load.changing }
  const reads = pictures.flatMap((picture, server) => finalReads(picture, server, keys))
  expect(verdict.wrongItems(operations, items).slice(0, MOST_SHOWN)).toEqual([])
  expect(verdict.wrongInstances(operations, load.changing).slice(0, MOST_SHOWN)).toEqual([])
  expect(verdict.wrongGrayItems(operations, grayItems).slice(0, MOST_SHOWN)).toEqual([])
  const registers = [
    ...verdict.toRegisters(operations, items, reads),
    ...verdict.toGrayRegisters(operations, grayItems, reads),
  ]
  expect(await linearizability(registers)).toEqual({ illegal: [], undecided: [] })
  return [...items, ...grayItems].reduce((sum, { records }) => sum + records.length, 0)
}
