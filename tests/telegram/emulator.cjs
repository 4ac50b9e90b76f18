// Starts telegram-test-api, from the folder and at the port that are its arguments. Where it answers
// in a form that Telegram never does, it is put right: clients rely on it.
const path = require('node:path');

const [folder, port] = process.argv.slice(2);
const home = path.join(folder, 'node_modules', 'telegram-test-api', 'lib');
const TelegramServer = require(path.join(home, 'index.js'));
const { routes } = require(path.join(home, 'routes', 'index.js'));

function corrected(method, answer) {
  const { result } = answer;
  if (method === 'getMe') return { ...answer, result: { ...result, is_bot: true } };
  if (method === 'getUpdates') {
    for (const { callback_query: pressed } of result) if (pressed) pressed.chat_instance = '1';
  }
  return result === null ? { ...answer, result: true } : answer;
}

routes.unshift((app) => {
  app.use('/bot:token/:method', (request, response, next) => {
    const { method } = request.params;
    const send = response.sendResult;
    response.sendResult = (answer) => send(corrected(method, answer));
    next();
  });
});

new TelegramServer({ host: '127.0.0.1', port: Number(port) }).start().then(() => console.log('ready'));
