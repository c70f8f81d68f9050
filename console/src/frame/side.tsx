import { Icon } from '../controls/icon.tsx'
import { t } from '../language/text.ts'
import { linkTo, type ViewPath } from '../routing/link.ts'
import { isAdministrator } from '../state/user.ts'
import { Brand } from '../controls/brand.tsx'
import { KeysButton } from './keys-dialog.tsx'
import { NAVIGATION, VIEWS } from './views.tsx'

/** The navigation. On a phone it slides in over the view. */
export function Side({ current, isOpen }: { current: ViewPath; isOpen: boolean }) {
  const groups = NAVIGATION.filter((group) => group.forAdministrators !== true || isAdministrator())
  return (
    <nav class={isOpen ? 'side open' : 'side'} aria-label={t('navigation')}>
      <Brand />
      {groups.map(({ title, views }) => (
        <div key={title ?? ''}>
          {title && <h2>{t(title)}</h2>}
          <ul>
            {views.map(([path, icon]) => (
              <li key={path}>
                <a href={linkTo(path)} aria-current={path === current ? 'page' : undefined}>
                  <Icon name={icon} />
                  {t(VIEWS[path].title)}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <KeysButton />
    </nav>
  )
}
