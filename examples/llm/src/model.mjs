// A language model, as far as its users can see: one word after the other, and the true cost at the end. A process of its
// own, so that it can die in the middle.

const WORDS = 'it is the work that tells in the end how much the work has cost'.split(' ')

process.on('message', async ({ tokens }) => {
  for (let spoken = 0; spoken < tokens; spoken++) {
    process.send({ word: WORDS[spoken % WORDS.length] })
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  process.send({ cost: tokens }, () => process.exit())
})
