/** Before all tests: builds dist and creates the directory for test data. Removes the directory at the end. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from './prepare.js'

export default async function setup({ provide }) {
  await build()
  const directory = mkdtempSync(join(tmpdir(), 'waypost-test-'))
  provide('temporaryDirectory', directory)
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
}
