import { publishOverHttp } from './config-steps.ts'
import { registerOverHttp } from './naming-steps.ts'
import type { Step } from './step.ts'

const CHANGES = 500

/** Many changes at once: what is between may be skipped, the last must arrive. */
export const BURST_STEPS: readonly Step[] = [
  {
    title: 'burst: a listener hears the last of 500 changes of an item',
    run: async ({ client, ask, run }) => {
      const item = { dataId: `burst-${run}` }
      await publishOverHttp(ask, item, '0')
      const watch = await (await client('burst')).listen(item)
      for (let change = 1; change <= CHANGES; change++) await publishOverHttp(ask, item, String(change))
      await watch.until('the last content', (seen) => seen === String(CHANGES))
    },
  },
  {
    title: 'burst: a subscriber hears the last of 500 changes of a service',
    run: async ({ client, ask, run }) => {
      const service = `burst-${run}`
      const own = { port: 1, ephemeral: false }
      await registerOverHttp(ask, service, own)
      const watch = await (await client('a')).subscribe({ service })
      await watch.until('the first', (seen) => seen.length === 1)
      for (let weight = 2; weight <= CHANGES + 1; weight++)
        await registerOverHttp(ask, service, { ...own, weight })
      await watch.until('the last weight', ([seen]) => seen?.weight === CHANGES + 1)
    },
  },
]
