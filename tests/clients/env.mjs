// Where the stack under test is, and the texts that several tests ask for.
export const url = process.env.SANDGATE_URL;
export const key = process.env.SANDGATE_KEY;
export const providerPort = Number(process.env.PROVIDER_PORT);
export const fenced = (command) => "Please run this:\n```sh\n" + command + "\n```";
export const shell = { type: "openrouter:shell", parameters: { engine: "openrouter" } };
export const sum = 'python3 -c "print(sum(range(1,101)))"';
