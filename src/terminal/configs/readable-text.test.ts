import { expect, test } from 'vitest'
import { faultIn } from './readable-text.ts'

const BAD_YAML = 'server:\n  port: 8080\n   timeout: 60s'

test.each([
  ['app.yaml', BAD_YAML, { present: 'yaml' }, 'YAML: line 2, column 9: '],
  ['app.yml', BAD_YAML, {}, 'YAML: line 2, '],
  ['app.yaml', BAD_YAML, { present: 'text' }, 'YAML: line 2, '],
  ['app', BAD_YAML, { present: 'yaml' }, 'YAML: line 2, '],
  ['app', BAD_YAML, { type: 'yml' }, 'YAML: line 2, '],
  ['app', BAD_YAML, {}, undefined],
  ['app.yaml', BAD_YAML, { type: 'text' }, undefined],
  ['cipher-app.yaml', BAD_YAML, {}, undefined],
  ['app.yaml', BAD_YAML.replaceAll('\n', '\r\n'), {}, 'YAML: line 2, '],
  ['app.yaml', '\uFEFFa: 1', {}, undefined],
  ['app.yaml', 'a: 1\n---\nb: 2\n...\n---\nc: 3', {}, undefined],
  ['app.yaml', 'a: {{ .Values.a }}\n  b: {{ c }}', {}, undefined],
  ['app.json', '{"a": ${A}}', {}, undefined],
  ['app.json', '{"a": "${A}"\n"b": 1}', {}, 'JSON: line 2, column 1: A comma or the end'],
  ['app.json', '{"port": @port@}', {}, undefined],
  ['app.json', '', {}, undefined],
  ['app.toml', 'a = ', {}, 'TOML: line 1, '],
  ['app.xml', '<a><b></a>', {}, 'XML: line 1, '],
  ['app.properties', 'a=\\u00zz', {}, 'PROPERTIES: line 1, column '],
] as const)('%s %j %j: %s', async (...row) => {
  const [dataId, content, { type, present }, fault]: Row = row
  const found = await faultIn({ name: { group: 'G', dataId }, content, type }, present)
  expect(found ?? '').toContain(fault ?? '')
  expect(found === undefined).toBe(fault === undefined)
})

type Row = readonly [
  dataId: string,
  content: string,
  types: { readonly type?: string; readonly present?: string },
  fault: string | undefined,
]
