import { labelsOfExpression } from '../../../../core/naming/state/label-selector.ts'
import type { Selector } from '../../../../core/naming/state/service.ts'

/** A selector with the fields that Java adds: the labels, and where it looks them up. */
export function javaSelector(selector: Selector): object {
  if (selector.type === 'none') return { type: 'none', contextType: 'NONE' }
  const { type, expression } = selector
  return { type, expression, labels: labelsOfExpression(expression), contextType: 'CMDB' }
}
