import { t } from '../language/text.ts'
import type { ConfigName } from '../server/configs.ts'
import { namespaceName, namespaceParam } from '../state/namespaces.ts'
import { mayWriteConfigs } from '../state/user.ts'
import { Coded } from './coded.tsx'
import { Notice } from './notice.tsx'

/** Says to a user who may not write a configuration what to do about it; without its names: not any in the namespace. */
export function MayNotWrite({ name }: { name: Pick<ConfigName, 'tenant'> & Partial<ConfigName> }) {
  const { tenant, group, dataId } = name
  // A user who may write others there needs this one.
  const what = mayWriteConfigs(tenant)
    ? `${namespaceParam(tenant)}:${group}:config/${dataId}`
    : namespaceName(tenant)
  return (
    <Notice kind="plain" icon="lock">
      <strong>{t('readOnly')}</strong>
      <div>
        <Coded text={t('mayNotWrite', { name: what })} />
      </div>
    </Notice>
  )
}
