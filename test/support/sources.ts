import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The files of the program without its tests, by their paths (`src/main/main.ts`), with their code. The console is not one of them. */
export function sourceFiles(): readonly { readonly file: string; readonly code: string }[] {
  return ['src', 'packages'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !file.includes('.test'))
      .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
      .map((file) => ({ file, code: readFileSync(join(root, file), 'utf8') })),
  )
}
