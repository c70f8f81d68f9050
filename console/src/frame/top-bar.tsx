import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../controls/icon.tsx'
import { later } from '../controls/later.tsx'
import { dropOwnDrafts } from '../publishing/drafts.ts'
import { PopoverButton } from '../controls/popover.tsx'
import { tellProblem } from '../controls/toast.tsx'
import { chooseLanguage, language, t, type Language } from '../language/text.ts'
import { viewAt } from '../routing/link.ts'
import { go, maySignOut } from '../state/location.ts'
import { signOut } from '../server/session.ts'
import { forgetUser } from '../state/user.ts'
import { ConnectionMark } from './connection-mark.tsx'
import { NamespaceSwitch } from './namespace-switch.tsx'
import { SearchButton } from './search-box.tsx'
import { chooseTheme, theme, type Theme } from './theme.ts'

const OwnPassword = later(async () => (await import('../sign-in/own-password.tsx')).OwnPassword)

const LANGUAGES: readonly (readonly [Language, string])[] = [
  ['en', 'English'],
  ['zh-CN', '简体中文'],
]

/** The bar at the top: the namespace, and what belongs to the user. */
export function TopBar(props: {
  readonly hasNamespace: boolean
  readonly username: string
  readonly onMenu: () => void
  readonly isMenuOpen: boolean
}) {
  const { hasNamespace, username, onMenu, isMenuOpen } = props
  return (
    <header class="top">
      <div class="bar">
        <button
          type="button"
          class="button quiet icon menu-button"
          aria-label={t('navigation')}
          aria-expanded={isMenuOpen}
          onClick={onMenu}
        >
          <Icon name="menu" />
        </button>
        {hasNamespace && <NamespaceSwitch />}
        <span class="space" />
        <SearchButton />
        <ConnectionMark />
        <LanguageButton />
        <ThemeButton />
        {username !== '' && <UserButton username={username} />}
      </div>
      <div class="stripe" />
    </header>
  )
}

function LanguageButton() {
  return (
    <PopoverButton
      label={t('language')}
      className="button quiet icon"
      isRight
      button={<Icon name="language" />}
      panel={(close) =>
        LANGUAGES.map(([value, name]) => (
          <Choice
            key={value}
            isCurrent={language.value === value}
            onChoose={() => {
              close()
              void chooseLanguage(value).catch(tellProblem)
            }}
          >
            <span lang={value}>{name}</span>
          </Choice>
        ))
      }
    />
  )
}

function ThemeButton() {
  const themes: readonly (readonly [Theme, string])[] = [
    ['system', t('themeSystem')],
    ['light', t('themeLight')],
    ['dark', t('themeDark')],
  ]
  return (
    <PopoverButton
      label={t('theme')}
      className="button quiet icon"
      isRight
      button={<Icon name="theme" />}
      panel={(close) =>
        themes.map(([value, name]) => (
          <Choice
            key={value}
            isCurrent={theme.value === value}
            onChoose={() => {
              chooseTheme(value)
              close()
            }}
          >
            {name}
          </Choice>
        ))
      }
    />
  )
}

function UserButton({ username }: { username: string }) {
  const [changesPassword, setChangesPassword] = useState(false)
  const leave = async (): Promise<void> => {
    if (!(await maySignOut())) return
    await signOut()
    dropOwnDrafts()
    forgetUser()
  }
  return (
    <>
      <PopoverButton
        label={t('account', { user: username })}
        className="button quiet"
        isRight
        button={
          <>
            <Icon name="user" />
            <span class="not-phone" dir="auto">
              {username}
            </span>
          </>
        }
        panel={(close) => (
          <>
            <p class="about soft" dir="auto">
              {t('signedInAs', { user: username })}
            </p>
            <Choice
              onChoose={() => {
                close()
                go(viewAt('user'))
              }}
            >
              {t('ownRights')}
            </Choice>
            <Choice
              onChoose={() => {
                close()
                setChangesPassword(true)
              }}
            >
              {t('changePassword')}
            </Choice>
            <Choice
              onChoose={() => {
                close()
                void leave().catch(tellProblem)
              }}
            >
              {t('signOut')}
            </Choice>
          </>
        )}
      />
      {changesPassword && <OwnPassword username={username} onClose={() => setChangesPassword(false)} />}
    </>
  )
}

function Choice(props: {
  readonly children: ComponentChildren
  readonly onChoose: () => void
  readonly isCurrent?: boolean
}) {
  return (
    <button
      type="button"
      class="choice"
      aria-current={props.isCurrent === true ? 'true' : undefined}
      onClick={props.onChoose}
    >
      {props.children}
    </button>
  )
}
