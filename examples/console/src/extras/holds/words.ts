import { useTexts } from '../../words/words.ts'

const en = {
  title: 'Held at present',
  about: 'Tokens and slots of requests in progress. They are refunded when the request ends, or when you release them.',
  empty: 'Nothing is held.',
  hold: (operation: string, tokens: string) => `${operation}: ${tokens} tokens`,
  slot: 'and a slot',
  times: (since: string, until: string) => `since ${since}, until ${until} at the latest`,
  release: 'Release',
  releaseOf: (operation: string) => `Release the hold of ${operation}`,
  releaseTitle: 'Release this hold?',
  releaseAbout: (operation: string) =>
    `The tokens of ${operation} are refunded immediately. The work itself continues, and is no longer charged.`,
}

const zh: typeof en = {
  title: '当前预留',
  about: '正在进行的工作所占的额度和名额。工作结束或由您释放时归还。',
  empty: '没有预留。',
  hold: (operation, tokens) => `${operation}：${tokens} 额度点`,
  slot: '及一个名额',
  times: (since, until) => `自 ${since}，最迟至 ${until}`,
  release: '释放',
  releaseOf: (operation) => `释放 ${operation} 的预留`,
  releaseTitle: '释放预留？',
  releaseAbout: (operation) => `${operation} 的预留将立即归还。工作本身会继续，不再计费。`,
}

export function useHoldWords(): typeof en {
  return useTexts({ en, 'zh-CN': zh })
}
