import { expect, test } from 'vitest'
import { tagRule, betaRule } from '../../core/config/state/gray-rule.ts'
import { whatClientHas } from './client-has.ts'

const BETA = { md5: 'beta', rule: betaRule('10.0.0.7') }
const TAG = { md5: 'blue', rule: tagRule('blue') }
const forAll = { md5: 'formal', ip: '10.0.0.1' }
const forBeta = { md5: 'beta', gray: 'beta', ip: '10.0.0.7' }

test.each([
  ['formal', { md5: 'formal', seen: forAll }],
  ['gray', { md5: 'beta', seen: forBeta }],
  ['behind', { md5: 'formal', seen: forBeta }],
  ['behind', { md5: 'beta', seen: forAll }],
  ['behind', { md5: '', seen: forAll }],
  ['away', { md5: '', seen: forAll, isAway: true }],
  ['formal', { md5: 'formal', seen: forAll, isAway: true }],
  // It may have asked for the tag by its name.
  ['unknown', { md5: 'blue', seen: forAll }],
] as const)('a client has the version that is for it, or not, or nobody can tell: %s %j', (has, client) => {
  expect(whatClientHas(client, [BETA, TAG])).toBe(has)
})
