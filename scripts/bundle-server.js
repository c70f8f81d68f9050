/**
 * Writes dist: the program, a file for each thread and process that it starts, source maps, the licences of the packages inside, and
 * the documents that are made from the source.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundle, licences, loaded, STORE_ENTRIES } from './bundle.js'
import { root } from './prepare.js'

/** The program, and what it starts. They are found by their names beside whichever file of dist starts them. */
const ENTRIES = {
  main: 'src/main/main.ts',
  ...STORE_ENTRIES,
  'copier-thread': 'src/store/embedded/backup/copier-thread.ts',
  copier: 'src/store/embedded/backup/copier.ts',
  examiner: 'src/store/embedded/doctor/examiner.ts',
  bcrypt: 'src/sign-in/bcrypt-thread.ts',
}

const dist = join(root, 'dist')
const packages = await bundle(ENTRIES, dist)
writeFileSync(join(dist, 'LICENSES.txt'), licences(packages))
const { api, manual } = await loaded({
  api: 'src/server/doors/api-document.ts',
  manual: 'src/main/manual.ts',
})
writeFileSync(join(dist, 'openapi.json'), api.apiDocument())
writeFileSync(join(dist, 'waypost.1'), manual.manualPage())
