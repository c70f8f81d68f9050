import { IN_GO } from '../prepared-program.ts'
import type { LibraryProgram } from './library.ts'

/** The program with the Go library. */
export const GO: LibraryProgram = {
  ...IN_GO,
  language: 'Go',
  folder: 'grpc/go',
  versions: [{ version: '2.3.5', says: 'Nacos-Go-Client:v2.3.5', signsInLate: true }],
  run: (_version, scratch) => ['./program', scratch],
}
