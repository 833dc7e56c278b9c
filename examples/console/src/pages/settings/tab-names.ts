import { hrefOf } from '../../route.ts'

export const TABS = ['base', 'plans', 'prices', 'shadow', 'thresholds'] as const
export type Tab = (typeof TABS)[number]

/** The tab in which a setting is edited. */
export function tabOf(path: string): Tab {
  const [head] = path.split('.')
  return TABS.find((tab) => tab === head && tab !== 'base') ?? 'base'
}

export function hrefOfTab(tab: Tab): string {
  return hrefOf('settings', undefined, { tab: tab === 'base' ? '' : tab })
}
