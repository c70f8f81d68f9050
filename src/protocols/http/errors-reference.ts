import { Refusal, type RefusalCode } from '../../core/refusal.ts'
import { configErrors, namingErrors } from './nacos/nacos-errors.ts'
import { problemErrors, problemType } from './errors/problem.ts'
import type { ErrorFormat } from './routing/route.ts'
import { REFUSALS } from '../refusals/refusals.ts'

const INTRODUCTION = `# Errors

<!-- Made by \`npm run docs\` from the table in src/protocols/refusals/refusals.ts: change it there. -->

A request that is not carried out changes nothing. \`/svc\` answers problem details (RFC 9457): a JSON object with
\`type\`, \`title\`, \`status\` and \`detail\`, and where they apply \`parameter\` (what it is about) and \`allowed\`.
\`type\` is \`${problemType('<code>')}\`; programs may rely on it. \`/nacos\` answers the text that its clients know, and
in a few cases another status. The columns have the statuses of the configuration part (with console and core) and of
naming (\`ns\`).

| Code | \`/svc\` | \`/nacos\` configuration | \`/nacos\` naming | Title | When, and what to do |
|---|---|---|---|---|---|
`

const FAULT = `
Anything else is a fault of the server: 500, \`${problemType('internal')}\`, with an \`instance\` that is also in the
server's log beside the cause. Please report it.
`

/** The reference of errors, docs/errors.md, made by asking the formats themselves. */
export function errorsReference(): string {
  const codes = Object.keys(REFUSALS) as RefusalCode[]
  return INTRODUCTION + codes.map(row).join('') + FAULT
}

function row(code: RefusalCode): string {
  const { title, meaning } = REFUSALS[code]
  const statuses = [problemErrors, configErrors, namingErrors].map((format) => statusOf(format, code))
  return `| \`${code}\` | ${statuses.join(' | ')} | ${title} | ${meaning} |\n`
}

function statusOf(format: ErrorFormat, code: RefusalCode): number {
  return format(new Refusal(code, ''), { method: 'GET', path: '/', requestId: '' }).status
}
