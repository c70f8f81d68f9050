import type { Finding } from '../../store/local-file.ts'

/** Findings for people, and how many more there are of `count`. */
export function findingsText(findings: readonly Finding[], count: number): string {
  const hidden = count - findings.length
  return findings.map(findingText).join('') + (hidden > 0 ? `… and ${hidden} more\n` : '')
}

function findingText({ severity, place, problem, effect, leavesOut }: Finding): string {
  const lines = [`${severity === 'damage' ? 'DAMAGE' : 'note'}  ${place}`, problem, effect]
  if (leavesOut !== undefined) lines.push(`A salvage: ${leavesOut}`)
  return `${lines.join('\n        ')}\n`
}
