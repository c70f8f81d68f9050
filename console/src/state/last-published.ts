import type { ConfigName } from '../server/configs.ts'
import { Store } from './store.ts'

/** The last publish of this page; `count` differs for each publish. */
export const lastPublished = new Store<{ readonly key: string; readonly count: number } | undefined>(
  undefined,
)

/** Notes a publish: the view of the item then shows who has it. */
export function notePublish(name: ConfigName): void {
  lastPublished.set({ key: keyOf(name), count: (lastPublished.value?.count ?? 0) + 1 })
}

/** The names of an item as one text. */
export const keyOf = ({ tenant, group, dataId }: ConfigName): string =>
  JSON.stringify([tenant, group, dataId])
