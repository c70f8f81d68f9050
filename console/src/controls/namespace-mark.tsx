import { t } from '../language/text.ts'
import { isProtected, namespaceColour, namespaceName } from '../state/namespaces.ts'
import { Icon } from './icon.tsx'

/** A namespace, with its colour, and a lock where it is protected. */
export function NamespaceMark({ id }: { id: string }) {
  return (
    <span class={`namespace ${namespaceColour(id)}`}>
      <span dir="auto">{namespaceName(id)}</span>
      {isProtected(id) && (
        <span class="lock" title={t('isProtected')}>
          <Icon name="lock" />
          <span class="hidden">{t('isProtected')}</span>
        </span>
      )}
    </span>
  )
}
