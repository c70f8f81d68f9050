import { t } from '../language/text.ts'
import { namespaceName } from '../state/namespaces.ts'
import { Coded } from './coded.tsx'
import { Notice } from './notice.tsx'

/** Says to a user who may not write in a namespace what to do about it. */
export function MayNotWrite({ namespaceId }: { namespaceId: string }) {
  return (
    <Notice kind="plain" icon="lock">
      <strong>{t('readOnly')}</strong>
      <div>
        <Coded text={t('mayNotWrite', { name: namespaceName(namespaceId) })} />
      </div>
    </Notice>
  )
}
