/** Calls that the code must not contain at all, found by reading it: then no request can cause them. */
import { describe, expect, test } from 'vitest'
import { sourceFiles } from '../support/sources.ts'

const files = sourceFiles()

const filesWith = (pattern: RegExp) => files.filter(({ code }) => pattern.test(code)).map(({ file }) => file)

describe('parts of requests become', () => {
  test('no paths: what reads requests has no file system', () => {
    const parts = /^src\/(protocols|core|subscribers|feed|archive|probes)\/|^packages\/http2\//
    expect(
      filesWith(/from 'node:(fs|fs\/promises|child_process|worker_threads|vm|module)'/).filter((file) =>
        parts.test(file),
      ),
    ).toEqual([])
  })

  test('no code: nothing is evaluated, and nothing imported by a name that is made', () => {
    expect(filesWith(/\beval\(|new Function\(|from 'node:vm'|(?<!\.)\bimport\([^'")]/)).toEqual([])
  })

  test('no objects of a class: the only reader of structures is JSON', () => {
    expect(filesWith(/\bdeserialize\(/)).toEqual([])
    // Neither the size of the heap nor a flag is a structure.
    expect(filesWith(/import (?!\{ (getHeapStatistics|setFlagsFromString) \} )[^\n]*from 'node:v8'/)).toEqual(
      [],
    )
  })

  test('no SQL: statements are put together from nothing that is sent', () => {
    // A template in a statement must be a constant of the code, spelled in capitals.
    expect(filesWith(/\.(prepare|exec)\(\s*`[^`]*\$\{(?![A-Z_]+\})/)).toEqual([])
  })

  test('no regular expressions, but those that parameters declare', () => {
    expect(filesWith(/new RegExp\(/)).toEqual(['src/protocols/parameters/parameter-field.ts'])
  })
})
