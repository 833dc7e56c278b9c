import { Oracle } from './oracle.ts'

export const isDeep: boolean = process.env.QUOTA_TEST_DEEP === '1'

export const FIRST_YEAR = 2010
export const LAST_YEAR = 2040

/** Zones whose clocks do what clocks elsewhere do not. */
const NASTY = [
  'America/Caracas', // half an hour, 2016
  'America/New_York',
  'America/Sao_Paulo', // no midnight on some days, until 2019
  'Africa/Cairo', // no midnight; changes on a Thursday's last second
  'Africa/Casablanca', // back for each Ramadan
  'Antarctica/Casey', // three hours
  'Antarctica/Troll', // two hours
  'Asia/Beirut', // no midnight
  'Asia/Pyongyang', // half an hour, 2015 and 2018
  'Australia/Lord_Howe', // half an hour, each year
  'Pacific/Apia', // a day left out, 2011
  'Pacific/Chatham', // 45 minutes, at 02:45
]

/** Twelve; all that there are in the deep profile. */
export const ZONES: readonly string[] = isDeep ? ['UTC', ...Intl.supportedValuesOf('timeZone')] : NASTY

const oracles = new Map<string, Oracle>()

export function oracleOf(timeZone: string): Oracle {
  const made = oracles.get(timeZone) ?? new Oracle(timeZone, FIRST_YEAR, LAST_YEAR)
  oracles.set(timeZone, made)
  return made
}
