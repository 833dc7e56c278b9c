import type { JSX } from 'preact'
import type { Route } from '../route.ts'
import type { Texts } from '../words/words.ts'
import { AuditPage } from './audit/audit-page.tsx'
import { CredentialsPage } from './credentials/credentials-page.tsx'
import { ErrorsPage } from './errors/errors-page.tsx'
import { OverviewPage } from './overview/overview-page.tsx'
import { RefusalsPage } from './refusals/refusals-page.tsx'
import { SettingsPage } from './settings/settings-page.tsx'
import { UsersPages } from './users/users-page.tsx'

interface ConsolePage {
  /** Its address: `users`. A part behind it belongs to the page: `users/dave`. */
  readonly path: string
  readonly labels: Texts<string>
  /** Strokes in a square of 16. */
  readonly icon: string
  Page(props: { readonly route: Route }): JSX.Element
}

/** In the order of the navigation. */
export const pages: readonly ConsolePage[] = [
  {
    path: 'overview',
    labels: { en: 'Overview', 'zh-CN': '概览' },
    icon: 'M2 13h12M4 13V8m4 5V3m4 10V6',
    Page: OverviewPage,
  },
  {
    path: 'settings',
    labels: { en: 'Limits', 'zh-CN': '限额' },
    icon: 'M2 4h6m4 0h2M2 8h1m4 0h7M2 12h7m4 0h1M10 2.5v3M5 6.5v3m6 1v3',
    Page: SettingsPage,
  },
  {
    path: 'users',
    labels: { en: 'Users', 'zh-CN': '用户' },
    icon: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14a5.5 5.5 0 0 1 11 0',
    Page: UsersPages,
  },
  {
    path: 'refusals',
    labels: { en: 'Refusals', 'zh-CN': '拒绝' },
    icon: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM3.8 3.8l8.4 8.4',
    Page: RefusalsPage,
  },
  {
    path: 'errors',
    labels: { en: 'Errors', 'zh-CN': '错误' },
    icon: 'M8 2l6.5 11.5h-13zM8 6.5v3m0 1.8v.4',
    Page: ErrorsPage,
  },
  {
    path: 'credentials',
    labels: { en: 'Credentials', 'zh-CN': '凭据' },
    icon: 'M5 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM7.2 7.8L13 2m-2 2l2 2',
    Page: CredentialsPage,
  },
  {
    path: 'audit',
    labels: { en: 'Audit trail', 'zh-CN': '审计记录' },
    icon: 'M4 2h8v12H4zM6.2 5.2h3.6M6.2 8h3.6M6.2 10.8h2',
    Page: AuditPage,
  },
]
