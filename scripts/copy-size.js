/**
 * `npm run test:copy`: the long form of test/store-tools/copy-size.test.ts. It copies 100,000 items with 1,000,000 records of 1.5 KB
 * into etcd and back, and prints how long each step takes. COPY_ITEMS, COPY_RECORDS (of each item), COPY_BYTES and COPY_MEMBERS
 * (1 or 3 members of etcd) in the environment go first. It takes about 8 GB of the directory for temporary files.
 */
import { join } from 'node:path'
import { endWithNpm, prepare, root, run } from './prepare.js'

endWithNpm()
await prepare()
const env = {
  COPY_ITEMS: '100000',
  COPY_RECORDS: '10',
  COPY_BYTES: '1500',
  COPY_MEMBERS: '1',
  ...process.env,
}
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const { code } = await run(
  process.execPath,
  [vitest, 'run', 'test/store-tools/copy-size.test.ts', ...process.argv.slice(2)],
  { env },
)
process.exitCode = code
