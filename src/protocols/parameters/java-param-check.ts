import type { RefusalFacts } from '../../core/refusal.ts'

const LONGEST_CLUSTER = 64

/** The text of 2.5.1 for a wrong parameter; undefined if its check of parameters has another text, or no text. */
export function javaParamCheck({ parameter, names }: RefusalFacts): string | undefined {
  switch (parameter) {
    case 'clusterName':
    case 'beat.cluster':
      return names?.['size'] !== undefined
        ? `Param 'cluster' is illegal, the param length should not exceed ${LONGEST_CLUSTER}.`
        : "Param 'cluster' is illegal, illegal characters should not appear in the param."
    case 'port':
      return "Param 'port' is illegal, the value should be between 0 and 65535."
    default:
      return undefined
  }
}
