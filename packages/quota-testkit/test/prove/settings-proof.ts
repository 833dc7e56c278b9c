import {
  type KnownBreak,
  type LeftOut,
  type Place,
  type Proof,
  type SettingsRules,
  settingsMachine,
} from '@scoregw/quota-histories'

type OfRules = Readonly<Partial<Record<keyof SettingsRules, readonly [rule: string, readonly LeftOut[]]>>>

const UNFOLLOWED = 'a process never follows what is stored'
const STALE = 'a process is stale for ever'
const SILENT = 'what is stored was announced, and is announced no more'

function of(place: Place): (fault: string, left: Partial<SettingsRules>, promise: string) => LeftOut {
  return (fault, left, promise) => ({ fault, machine: settingsMachine(place, left), promise })
}

function inBoth(place: Place): OfRules {
  const without = of(place)
  return {
    adopts: [
      'A process adopts whatever is stored',
      [without('only higher versions are adopted', { adopts: 'higher versions alone' }, UNFOLLOWED)],
    ],
    sameness: [
      'Documents are the same when their revisions are',
      [without('equal versions are the same', { sameness: 'version' }, UNFOLLOWED)],
    ],
    absence: [
      'Nothing stored is followed as well',
      [without('absence is ignored', { absence: 'ignored' }, UNFOLLOWED)],
    ],
  }
}

const [together, apart] = [of('with the counters'), of('elsewhere')]

const TOGETHER: OfRules = {
  ...inBoth('with the counters'),
  asks: [
    'A stale process asks the primary',
    [together('a replica is asked', { asks: 'a replica' }, 'a second answer is stale, and nothing changed')],
  ],
}

const APART: OfRules = {
  ...inBoth('elsewhere'),
  announces: [
    'A process that was stale announces what it read over what it saw',
    [
      apart('nothing is announced again', { announces: 'never' }, STALE),
      apart('only higher versions are announced again', { announces: 'over lower versions' }, STALE),
      apart('whatever was read is announced again', { announces: 'over anything' }, SILENT),
    ],
  ],
  looks: [
    'The look begins after the stale answer',
    [apart('the look began before the answer', { looks: 'before the answer' }, SILENT)],
  ],
}

const KNOWN: KnownBreak = {
  promise: SILENT,
  because:
    'A backup brings an old revision back. A process that looked before that, and sends only now what it saw, cannot tell. It announces an outdated document over the stored one. The next decision of any process finds its answer stale, reads, and announces what is stored: one read more.',
  history: [
    'the first writes',
    'the first decides',
    'the first announces again',
    'a backup is made',
    'the second writes',
    'the second decides',
    'the backup is put back',
    'the first announces',
    'the second announces again',
  ],
}

function proofOf(place: Place, slug: string, rules: OfRules, usual: number, known?: KnownBreak): Proof {
  return {
    slug,
    title: `Settings that are stored ${place}`,
    about:
      'Settings are written, announced, lost, backed up and put back. Two processes work under them, and others take their place when they die. In every state all messages then arrive, and everybody has to follow what is stored.',
    promises: [
      'every process follows what is stored, once nothing else happens',
      'no process is stale for ever',
      ...(place === 'elsewhere'
        ? ['what is announced stays announced']
        : ['a second answer is not stale if nothing changed']),
    ],
    machine: settingsMachine(place),
    actors: ['the first', 'the second'],
    depths: { quick: 7, usual },
    rules: Object.fromEntries(Object.values(rules)),
    known,
  }
}

export const SETTINGS_PROOFS: readonly Proof[] = [
  proofOf('with the counters', 'settings-with-counters', TOGETHER, 11),
  proofOf('elsewhere', 'settings-elsewhere', APART, 8, KNOWN),
]
