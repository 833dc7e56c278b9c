import type { SubjectSettings } from './settings.ts'

/** Which parts of a subject's settings have ended. */
export interface Ended {
  readonly overrides: boolean
  readonly plan: boolean
}

export function endedAt({ until }: SubjectSettings, now: number): Ended {
  return { overrides: isOver(until.overrides, now), plan: isOver(until.plan, now) }
}

function isOver(until: number | null, now: number): boolean {
  return until !== null && now >= until
}

/** What is in force of a subject's settings at an instant. */
export function inForceAt(settings: SubjectSettings, now: number): SubjectSettings {
  const ended = endedAt(settings, now)
  return {
    ...settings,
    overrides: ended.overrides ? {} : settings.overrides,
    plan: ended.plan ? null : settings.plan,
  }
}
