/** Before the tests of the project `on-etcd` (vitest.config.ts): starts the one etcd that all their servers use. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEtcd } from './etcd.ts'
import { isInstalled } from './need-tool.ts'

export default async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  // Then test/support/on-etcd.test.ts says why nothing else is run.
  if (!isInstalled('go')) return undefined
  const directory = mkdtempSync(join(tmpdir(), 'waypost-etcd-'))
  const etcd = await startEtcd({ directory })
  provide('etcdEndpoints', etcd.endpoints)
  return async () => {
    await etcd.stop()
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}
