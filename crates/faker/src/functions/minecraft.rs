//! Things of Minecraft.

use super::{Function, pick};

pub(super) const FUNCTIONS: &[Function] = &[
    pick("minecraftAnimal", "minecraft.animal"),
    pick("minecraftArmorPart", "minecraft.armorpart"),
    pick("minecraftArmorTier", "minecraft.armortier"),
    pick("minecraftBiome", "minecraft.biome"),
    pick("minecraftDye", "minecraft.dye"),
    pick("minecraftFood", "minecraft.food"),
    pick("minecraftMobBoss", "minecraft.mobboss"),
    pick("minecraftMobHostile", "minecraft.mobhostile"),
    pick("minecraftMobNeutral", "minecraft.mobneutral"),
    pick("minecraftMobPassive", "minecraft.mobpassive"),
    pick("minecraftOre", "minecraft.ore"),
    pick("minecraftTool", "minecraft.tool"),
    pick("minecraftVillagerJob", "minecraft.villagerjob"),
    pick("minecraftVillagerLevel", "minecraft.villagerlevel"),
    pick("minecraftVillagerStation", "minecraft.villagerstation"),
    pick("minecraftWeapon", "minecraft.weapon"),
    pick("minecraftWeather", "minecraft.weather"),
    pick("minecraftWood", "minecraft.wood"),
];
