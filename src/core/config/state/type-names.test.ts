import { expect, test } from 'vitest'
import { typeOfName, typeOfWord } from './type-names.ts'

test.each([
  ['yaml', 'yaml'],
  ['YAML', 'yaml'],
  ['yml', 'yaml'],
  [' Yml ', 'yaml'],
  ['text/yaml', 'yaml'],
  ['application/x-yaml', 'yaml'],
  ['Properties', 'properties'],
  ['props', 'properties'],
  ['text/x-java-properties; charset=utf-8', 'properties'],
  ['application/json', 'json'],
  ['application/xml', 'xml'],
  ['text/html', 'html'],
  ['htm', 'html'],
  ['html5', 'html'],
  ['text/plain', 'text'],
  ['txt', 'text'],
  ['application/toml', 'toml'],
  ['UNSET', 'unset'],
  ['ini', undefined],
  ['constructor', undefined],
  ['', undefined],
  [`yaml;${' '.repeat(59)}`, 'yaml'],
  [`yaml;${' '.repeat(60)}`, undefined],
])('the word %j means %j', (word, type) => expect(typeOfWord(word)).toBe(type))

test.each([
  ['app.yml', 'yaml'],
  ['app.dev.YAML', 'yaml'],
  ['x.json', 'json'],
  ['x.properties', 'properties'],
  ['index.htm', 'html'],
  ['notes.txt', 'text'],
  ['json', undefined],
  ['x.', undefined],
  ['x.conf', undefined],
  ['x.unset', undefined],
])('the name %j says %j', (dataId, type) => expect(typeOfName(dataId)).toBe(type))
