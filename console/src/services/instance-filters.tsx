import { SelectField, TextField } from '../controls/field.tsx'
import { useTypedParams } from '../controls/typed-params.ts'
import { t } from '../language/text.ts'
import type { InstanceFilter } from '../server/services.ts'

/** How many instances a page shows. */
export const INSTANCES_ON_PAGE = 100

/** The parameters of each state of the filter. */
const STATES: Readonly<Record<string, Pick<InstanceFilter, 'healthy' | 'enabled'>>> = {
  healthy: { healthy: true },
  unhealthy: { healthy: false },
  disabled: { enabled: false },
}

/** The filter that the address says. */
export function filterOf(params: Readonly<Record<string, string>>): InstanceFilter {
  return {
    ip: params['ip'] ?? '',
    clusterName: params['cluster'] ?? '',
    metadata: params['metadata'] ?? '',
    ...STATES[params['state'] ?? ''],
    pageNo: Number(params['page'] ?? '1') || 1,
    pageSize: INSTANCES_ON_PAGE,
  }
}

/** Whether a filter leaves any out. */
export const isNarrowed = ({ ip, clusterName, metadata, healthy, enabled }: InstanceFilter): boolean =>
  ip + clusterName + metadata !== '' || healthy !== undefined || enabled !== undefined

/** The fields by which the instances of a service are narrowed. */
export function InstanceFilters({ params }: { params: Readonly<Record<string, string>> }) {
  const { valueOf, type, show } = useTypedParams()
  const field = (name: string, label: string, placeholder = '') => (
    <TextField
      label={label}
      type="search"
      placeholder={placeholder}
      value={valueOf(name)}
      onInput={(value) => type(name, value)}
    />
  )
  return (
    <div class="filters" role="search">
      {field('ip', t('instanceAddress'))}
      {field('cluster', t('cluster'))}
      {field('metadata', t('metadata'), 'zone=a')}
      <SelectField
        label={t('state')}
        value={params['state'] ?? ''}
        choices={[
          ['', t('all')],
          ['healthy', t('healthy')],
          ['unhealthy', t('unhealthy')],
          ['disabled', t('disabled')],
        ]}
        onChange={(state) => show({ state })}
      />
    </div>
  )
}
